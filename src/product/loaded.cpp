#include "product/loaded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "engine/registry.h"
#include "formats/fixed_inputs.h"
#include "formats/random_weights.h"
#include "plan/build.h"
#include "plan/plan_file.h"
#include "plan/variants.h"
#include "product/cache.h"
#include "product/memory/in_memory.h"
#include "product/open_model.h"
#include "product/profile.h"
#include "product/shared_cores.h"
#include "runtime/loaded/simulated_stages.h"
#include "schedule/read_plan.h"

namespace millrace::product {

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

/// Engines of the stages that run elsewhere than on cores, joined by commas.
std::string engines_of_devices(const plan::Plan& plan) {
  std::vector<std::string> names;
  for (const plan::Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors)
      if (processor.cores.empty() && !plan::is_simulated(stage) &&
          std::ranges::find(names, stage.engine) == names.end())
        names.push_back(stage.engine);
  return fmt::format("{}", fmt::join(names, ","));
}

/// Nothing if the plan is no bundle's.
std::filesystem::path blobs_beside(const std::string& plan) {
  const std::filesystem::path folder = std::filesystem::path(plan).parent_path() / folder_of_blobs;
  std::error_code error;
  return std::filesystem::is_directory(folder, error) ? std::filesystem::absolute(folder, error)
                                                      : std::filesystem::path();
}

}  // namespace

std::unique_ptr<Loaded> read_plan_and_network(const std::string& path,
                                              const std::string& model_override,
                                              const Context& context) {
  auto loaded = std::make_unique<Loaded>();
  loaded->context = context;
  if (context.memory != nullptr)
    if (const plan::PlanFile* plan = held(context.memory->plans, path)) {
      loaded->network = open_model(plan->origin.model, context);
      take(*loaded, *plan);
      return loaded;
    }
  loaded->network = open_model(model_of_plan(path, model_override), context);
  take(*loaded, schedule::read_plan(path, loaded->network));
  return loaded;
}

void make_ready(Loaded& loaded, const std::string& path, const RunOptions& options) {
  loaded.context = options.context;
  loaded.context.blobs = blobs_beside(path);
  try {
    loaded.board = this_machine_with(engines_of_devices(loaded.plan), loaded.context);
    plan::check_cores(loaded.plan);
    const engine::EngineOptions running = engine_options(loaded.context);
    make_real_where_here(loaded, running);
    add_simulated_engine(loaded, running, options.time_scale);
    runtime::add_engines(loaded, loaded.plan, path, running);
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
    formats::ModelSource source = model.source;
    if (formats::wants_random_weights(source)) source.weights.clear();  // the plan's may be random
    if (!model.processors.empty() || !formats::is_read_as_it_is(source) || !model.engine.empty())
      throw InputError(model.source.file,
                       "the plan says which processors, engine, shapes, fixed inputs and weights; "
                       "leave out ⟨processors⟩, ⟨engine⟩, ⟨shape⟩, ⟨fix⟩, ⟨size⟩ and ⟨weights⟩, or "
                       "make another plan");
    return load_plan(model.source.file, options.network, {model.context, options.time_scale});
  }
  if (options.time_scale != 1 && options.time_scale != 0)
    throw InputError("⟨time_scale⟩", "is for plans of boards that are not here; leave it out");
  if (!options.network.empty())
    throw InputError("⟨model⟩ " + options.network,
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

}  // namespace millrace::product
