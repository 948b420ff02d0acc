#include "runtime/loaded/simulated_stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engine/registry.h"
#include "plan/variants.h"
#include "schedule/schedule.h"

namespace millrace::runtime {
namespace {

/// Share of a stage's runs that may be late before it is worth a word.
constexpr double some_are_late = 0.05;

/// Whether the engine can run the layer on the processor, in the plan's variant.
bool runs_as_planned(LayerId layer, const board::Processor& processor, const Loaded& loaded,
                     const engine::Engine& engine) {
  if (!engine.supports(loaded.network, layer, processor)) return false;
  const std::vector<board::Variant>& variants = loaded.plan.variants;
  if (variants.empty() || variants[layer.index] == board::Variant{}) return true;
  const auto offered = engine.variants(loaded.network, layer, processor);
  return std::find(offered.begin(), offered.end(), variants[layer.index]) != offered.end();
}

bool runs_as_planned(const plan::Stage& stage, const Loaded& loaded, const engine::Engine& engine) {
  std::vector<LayerId> layers;
  for (const plan::Phase& phase : stage.phases)
    layers.insert(layers.end(), phase.layers.begin(), phase.layers.end());
  for (const board::Processor& processor : stage.processors)
    for (const LayerId layer : layers)
      if (!runs_as_planned(layer, processor, loaded, engine)) return false;
  return true;
}

/// What of a stage's frames was computed here, over all its phases.
struct StagePace {
  Time modelled{}, computing{};
  double late = 0;  // the share of the runs of its worst phase
};

StagePace pace_of(const plan::Stage& stage, const std::string& processor,
                  const std::vector<engine::simulated::Pace>& paces) {
  StagePace sum;
  for (const plan::Phase& phase : stage.phases) {
    StagePace worst;
    for (const engine::simulated::Pace& pace : paces) {
      if (pace.processor != processor || pace.layers != phase.layers) continue;
      if (pace.computing < worst.computing) continue;
      worst = {pace.modelled, pace.computing,
               static_cast<double>(pace.late) / static_cast<double>(pace.runs)};
    }
    sum.modelled += worst.modelled / phase.batch;
    sum.computing += worst.computing / phase.batch;
    sum.late = std::max(sum.late, worst.late);
  }
  return sum;
}

}  // namespace

void make_real_where_here(Loaded& loaded, const engine::EngineOptions& options) {
  const board::Board here = board::this_machine();
  if (loaded.origin.board_cpu != here.cpu_model) return;
  std::unique_ptr<engine::Engine> engine;
  std::vector<std::string> names;
  const auto becomes_real = [&](const plan::Stage& stage) {
    if (!plan::is_simulated(stage) || !plan::is_on(stage, here)) return false;
    if (!engine)
      engine = engine::make_engine(engine::engine_names().front(), options);
    if (!runs_as_planned(stage, loaded, *engine)) return false;
    names.push_back(stage.name);
    return true;
  };
  plan::Plan plan = plan::with_engine(loaded.plan, becomes_real, engine::engine_names().front());
  if (names.empty()) return;
  loaded.plan = std::move(plan);
  loaded.engines[engine->name()] = std::move(engine);
  loaded.context.note(
      fmt::format("this machine has the CPU of the plan's board, {}: {} run{} on it, "
                  "not simulated",
                  here.cpu_model, fmt::join(names, ", "), names.size() == 1 ? "s" : ""));
}

void add_simulated_engine(Loaded& loaded, const engine::EngineOptions& options,
                          double time_scale) {
  const std::vector<LayerId> layers = simulated_layers(loaded.plan);
  if (layers.empty()) {
    if (time_scale != 1 && time_scale != 0)
      throw InputError("⟨time_scale⟩", "is for plans of boards that are not here; leave it out");
    return;
  }
  SimulatedBoard& simulated = loaded.simulated;
  simulated.time_scale = time_scale;
  add_run_times(loaded.plan, loaded.evidence, time_scale, simulated.times);
  simulated.computing = engine::engine_for(loaded.network, layers, simulation_host());
  auto& computing = loaded.engines[simulated.computing];
  if (!computing)
    computing = engine::make_engine(simulated.computing, options);
  auto here = computed_here(loaded.plan, loaded.network, *computing);
  loaded.plan = std::move(here.plan);
  simulated.replaced = std::move(here.replaced);
  auto engine = make_simulated_engine(*computing, simulated.times);
  simulated.engine = engine.get();
  loaded.engines[plan::simulated_engine] = std::move(engine);
}

Time board_time(Time time, const Loaded& loaded) {
  const double scale = loaded.simulated.time_scale;
  return scale == 1 || scale == 0 ? time : time_from_seconds(seconds(time) / scale);
}

void note_simulation(const Loaded& loaded) {
  const SimulatedBoard& simulated = loaded.simulated;
  if (simulated.engine == nullptr) return;
  std::vector<std::string> processors, precisions;
  for (const plan::Stage& stage : loaded.plan.stages)
    for (const board::Processor& each : stage.processors)
      if (plan::is_simulated(stage)) processors.push_back(each.name);
  for (const board::Precision precision : simulated.replaced)
    precisions.push_back(to_text(precision));
  std::string times = ", times are the plan's";
  if (simulated.time_scale == 0) times.clear();
  if (simulated.time_scale != 0 && simulated.time_scale != 1)
    times += fmt::format(", stretched {:g} times and reported in the board's time",
                         simulated.time_scale);
  loaded.context.note(fmt::format("simulated: {}; results are computed here by {}{}",
                                  fmt::join(processors, ", "), simulated.computing, times));
  if (!precisions.empty())
    loaded.context.note(
        fmt::format("layers planned in {} are computed in f32", fmt::join(precisions, " and ")));
}

double note_late_stages(const plan::Plan& plan, const std::vector<engine::simulated::Pace>& paces,
                        const std::string& prefix, const Context& context) {
  double most = 0;
  for (const schedule::Actor& actor : schedule::compile(plan).actors) {
    const plan::Stage& stage = plan.stages[actor.stage];
    const StagePace pace =
        plan::is_simulated(stage) ? pace_of(stage, actor.processor.name, paces) : StagePace{};
    if (pace.late <= some_are_late) continue;
    most = std::max(most, seconds(pace.computing) / seconds(pace.modelled));
    context.note(
        fmt::format("late: {:.0f} % of the runs of {}{} on {} took longer here than {}, the "
                    "modelled time; the mean is {}",
                    100 * pace.late, prefix, actor.name, actor.processor.name,
                    to_text(pace.modelled), to_text(pace.computing)));
  }
  return most;
}

void note_late_stages(const Loaded& loaded) {
  if (loaded.simulated.engine == nullptr) return;
  const double scale = loaded.simulated.time_scale;
  const double most =
      note_late_stages(loaded.plan, loaded.simulated.engine->paces(), "", loaded.context);
  if (most > 0)
    loaded.context.note(
        fmt::format("so these results are not those of the board; ⟨time_scale⟩ {:.0f} gives this "
                    "machine more time",
                    std::ceil(1.5 * std::max(1.0, most) * scale)));
}

}  // namespace millrace::runtime
