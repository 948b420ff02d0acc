#include "api/loaded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "api/cache.h"
#include "api/open_model.h"
#include "api/profile.h"
#include "api/shared_cores.h"
#include "api/simulated_board.h"
#include "base/error.h"
#include "engine/registry.h"
#include "network/fixed_inputs.h"
#include "plan/build.h"
#include "plan/plan_file.h"
#include "plan/variants.h"
#include "schedule/read_plan.h"

namespace millrace::api {

namespace {

/// Whether there is anything to choose in float32 on a core.
bool has_choice(const network::Network& network, const engine::Engine& engine,
                const board::Processor& processor) {
  if (processor.kind != board::ProcessorKind::cpu) return false;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    if (std::ranges::count(engine.variants(network, LayerId(i), processor), board::Precision::f32,
                           &board::Variant::precision) > 1)
      return true;
  return false;
}

/// Of the stages that run elsewhere than on cores, joined by commas.
std::string engines_of_devices(const plan::Plan& plan) {
  std::vector<std::string> names;
  for (const plan::Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors)
      if (processor.cores.empty() && !plan::is_simulated(stage) &&
          std::ranges::find(names, stage.engine) == names.end())
        names.push_back(stage.engine);
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

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

bool is_plan_file(const std::string& path) {
  return std::filesystem::path(path).extension() == ".json";
}

std::unique_ptr<Loaded> read_plan_and_network(const std::string& path,
                                              const std::string& model_override,
                                              const Context& context) {
  auto loaded = std::make_unique<Loaded>();
  loaded->context = context;
  loaded->network = open_model(model_of_plan(path, model_override), context);
  take(*loaded, schedule::read_plan(path, loaded->network));
  return loaded;
}

void make_ready(Loaded& loaded, const std::string& path, const RunOptions& options) {
  loaded.context = options.context;
  try {
    loaded.board = this_machine_with(engines_of_devices(loaded.plan), options.context);
    plan::check_cores(loaded.plan);
    make_real_where_here(loaded);
    add_simulated_engine(loaded, options.time_scale);
    for (const plan::Stage& stage : loaded.plan.stages)
      if (!loaded.engines.contains(stage.engine))
        loaded.engines[stage.engine] =
            make_engine_of(path, stage.engine, engine_options(options.context));
    plan::check_board(loaded.plan, loaded.board);
  } catch (const InputError& error) {
    throw InputError(path, error.what());
  }
  if (loaded.simulated.engine == nullptr) note_shared_cores(loaded.plan, loaded.context);
}

std::unique_ptr<Loaded> load_plan(const std::string& path, const std::string& model_override,
                                  const RunOptions& options) {
  auto loaded = read_plan_and_network(path, model_override, options.context);
  make_ready(*loaded, path, options);
  return loaded;
}

std::unique_ptr<Loaded> load_runnable(const RunnableOptions& options) {
  const Setup& model = options.model;
  if (is_plan_file(model.source.file)) {
    const network::ModelSource& source = model.source;
    if (!model.processors.empty() || !network::is_read_as_it_is(source) || !model.engine.empty())
      throw InputError(model.source.file,
                       "the plan says which processors, engine, shapes, fixed inputs and weights; "
                       "leave out --processors, --engine, --shape, --fix, --size and --weights, or "
                       "make another plan");
    return load_plan(model.source.file, options.network, {model.context, options.time_scale});
  }
  if (options.time_scale != 1 && options.time_scale != 0)
    throw InputError("--time-scale", "is for plans of boards that are not here; leave it out");
  if (!options.network.empty())
    throw InputError("--model " + options.network,
                     model.source.file + " is not a plan (.json); only a plan takes another model; "
                                         "leave it out");
  auto loaded = std::make_unique<Loaded>();
  loaded->context = model.context;
  loaded->network = open_model(model.source, model.context);
  loaded->board = load_board(options.model);
  if (model.processors.empty()) put_free_first(loaded->board);
  const std::string engine = engine_of(options.model);
  loaded->engines[engine] = engine::make_engine(engine, engine_options(model.context));
  loaded->plan = one_processor_plan(loaded->network, loaded->board.processors.front(), engine);
  loaded->evidence = plan::no_evidence(loaded->plan);
  note_shared_cores(loaded->plan, model.context);
  return loaded;
}

void choose_variants(Loaded& loaded) {
  if (loaded.plan.stages.empty()) return;
  const plan::Stage& stage = loaded.plan.stages.front();
  if (!has_choice(loaded.network, *loaded.engines.at(stage.engine), stage.processors.front()))
    return;
  board::Board one = loaded.board;
  one.processors = {stage.processors.front()};
  ProfileSource source;
  source.context = loaded.context;
  source.quick = true;
  source.measure.warmup = 1;
  source.measure.least = 3;
  source.measure.duration = std::chrono::milliseconds(50);
  source.measure.alone = false;
  const profile::Profile measured =
      load_profile(loaded.network, one, *loaded.engines.at(stage.engine), source);
  std::vector<board::Variant> variants;
  for (const profile::LayerTimes& layer : measured.processors.front().layers)
    variants.push_back(layer.variant);
  loaded.plan = plan::with_variants(loaded.plan, {variants, {}, {}});
}

runtime::Session deploy(const Loaded& loaded, const plan::Plan& plan, const std::string& file,
                        const runtime::SessionOptions& options) {
  try {
    return runtime::deploy(plan, loaded.network, loaded.engine_pointers(), options);
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

}  // namespace millrace::api
