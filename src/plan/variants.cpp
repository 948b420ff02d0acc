#include "plan/variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/split.h"

namespace millrace::plan {
namespace {

std::vector<LayerId> layers_of(const Stage& stage) {
  std::vector<LayerId> layers;
  for (const Phase& phase : stage.phases)
    layers.insert(layers.end(), phase.layers.begin(), phase.layers.end());
  return layers;
}

board::Variant variant_of(const std::vector<board::Variant>& variants, LayerId layer) {
  return variants.empty() ? board::Variant{} : variants[layer.index];
}

/// By the text that joins several engines, those by whose names layers run.
using UsedEngines = std::map<std::string, std::set<std::string>>;

std::string first_of(const std::string& engines) {
  return engines.substr(0, engines.find_first_of(",@"));
}

std::set<std::string> engines_of(const Plan& plan) {
  std::set<std::string> engines;
  for (const Stage& stage : plan.stages)
    for (const std::string& part : split(stage.engine, ',')) engines.insert(first_of(part));
  return engines;
}

UsedEngines used_engines(const Plan& plan, const std::set<std::string>& kept) {
  UsedEngines used;
  for (const Stage& stage : plan.stages) used[stage.engine] = kept;
  for (const Stage& stage : plan.stages)
    for (const LayerId layer : layers_of(stage))
      for (const auto* variants : {&plan.variants, &one_frame_variants(plan)})
        used[stage.engine].insert(board::engine_of(stage.engine, variant_of(*variants, layer)));
  return used;
}

std::string only(const std::string& engines, const std::set<std::string>& used) {
  std::vector<std::string> kept = split(engines, ',');
  std::erase_if(kept, [&](const std::string& part) { return !used.contains(first_of(part)); });
  return fmt::format("{}", fmt::join(kept, ","));
}

/// As this engine calls its own: the first of several has variants without its name.
void make_nameless(std::vector<board::Variant>& variants, const std::vector<LayerId>& layers,
                   const std::string& engine) {
  if (variants.empty()) return;
  for (const LayerId layer : layers) {
    board::Variant& variant = variants[layer.index];
    if (board::is_of_engine(variant, engine))
      variant.algorithm.erase(0, std::min(engine.size() + 1, variant.algorithm.size()));
  }
}

}  // namespace

Plan with_variants(const Plan& plan, Variants variants) {
  Plan result = plan;
  result.variants = std::move(variants.variants);
  result.one_frame_variants = std::move(variants.one_frame);
  result.calibration = std::move(variants.calibration);
  return result;
}

Plan with_variants(const Plan& plan, std::vector<board::Variant> variants) {
  return with_variants(plan, {std::move(variants), plan.one_frame_variants, plan.calibration});
}

Plan with_engine(const Plan& plan, const std::function<bool(const Stage&)>& which,
                 const std::string& engine) {
  Plan result = plan;
  for (Stage& stage : result.stages)
    if (which(stage)) stage.engine = engine;
  return result;
}

Plan with_used_engines(const Plan& plan, const Plan& beside) {
  Plan result = plan;
  const UsedEngines used = used_engines(plan, engines_of(beside));
  for (Stage& stage : result.stages) {
    const std::string before = first_of(stage.engine);
    stage.engine = only(stage.engine, used.at(stage.engine));
    const std::string first = first_of(stage.engine);
    if (first == before) continue;
    make_nameless(result.variants, layers_of(stage), first);
    make_nameless(result.one_frame_variants, layers_of(stage), first);
  }
  return result;
}

bool is_on(const Stage& stage, const board::Board& board) {
  const auto& all = board.processors;
  return std::all_of(stage.processors.begin(), stage.processors.end(),
                     [&](const board::Processor& processor) {
                       return std::find(all.begin(), all.end(), processor) != all.end();
                     });
}

Plan simulated_where_not_here(const Plan& plan, const board::Board& board) {
  const board::Board machine = board::this_machine();
  board::Board here;
  if (board.cpu_model == machine.cpu_model && board.instruction_sets == machine.instruction_sets)
    here.processors = machine.processors;
  return with_engine(
      plan, [&](const Stage& stage) { return !is_on(stage, here); }, simulated_engine);
}

}  // namespace millrace::plan
