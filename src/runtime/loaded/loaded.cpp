#include "runtime/loaded/loaded.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "engine/registry.h"
#include "plan/build.h"
#include "plan/variants.h"

namespace millrace::runtime {

std::map<std::string, engine::Engine*> Loaded::engine_pointers() const {
  std::map<std::string, engine::Engine*> result;
  for (const auto& [name, engine] : engines) result[name] = engine.get();
  return result;
}

void take(Loaded& loaded, plan::PlanFile file) {
  loaded.plan = std::move(file.plan);
  loaded.origin = std::move(file.origin);
  loaded.evidence = std::move(file.evidence);
}

Session deploy(const Loaded& loaded, const plan::Plan& plan, const std::string& file,
                        const SessionOptions& options) {
  try {
    return deploy(plan, loaded.network, loaded.engine_pointers(), options);
  } catch (const InputError& error) {
    const std::string text = error.what(), place = "plan: ";
    if (!text.starts_with(place)) throw;
    throw InputError(file, text.substr(place.size()));
  }
}

plan::Plan one_processor_plan(const network::Network& network, const board::Processor& processor,
                              const std::string& engine) {
  board::Board board;
  board.processors = {processor};
  plan::Mapping mapping;
  mapping.processors.assign(network.layers.size(), ProcessorId(0));
  plan::BuildOptions options;
  options.engine = engine;
  return plan::build(network, board, mapping, options);
}

std::vector<board::Variant> variants_on(const board::Processor& processor, const Loaded& loaded,
                                        const engine::Engine& engine) {
  std::vector<board::Variant> result = plan::one_frame_variants(loaded.plan);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i].algorithm.empty()) continue;
    const auto offered = engine.variants(loaded.network, LayerId(i), processor);
    if (std::ranges::find(offered, result[i]) != offered.end()) continue;
    result[i].algorithm.clear();
    const bool has_precision = std::ranges::find(offered, result[i].precision,
                                                 &board::Variant::precision) != offered.end();
    if (!offered.empty() && !has_precision) result[i] = {};
  }
  return result;
}

plan::Plan one_processor_plan(const Loaded& loaded, const board::Processor& processor,
                              const std::string& engine) {
  const auto variants = variants_on(processor, loaded, *loaded.engines.at(engine));
  return plan::with_variants(one_processor_plan(loaded.network, processor, engine),
                             {variants, {}, loaded.plan.calibration});
}

std::unique_ptr<engine::Engine> make_engine_of(const std::string& file, const std::string& engines,
                                               const engine::EngineOptions& options) {
  if (const Verdict verdict = engine::can_start_all(engines, options); !verdict)
    throw EngineError(fmt::format("{} runs layers with an engine that is not here: {}; or make "
                                  "another plan on this machine",
                                  file, verdict.reason()));
  return engine::make_engine(engines, options);
}

void add_engines(Loaded& loaded, const plan::Plan& plan, const std::string& file,
                 const engine::EngineOptions& options) {
  for (const plan::Stage& stage : plan.stages)
    if (auto& engine = loaded.engines[stage.engine]; !engine)
      engine = make_engine_of(file, stage.engine, options);
}

}  // namespace millrace::runtime
