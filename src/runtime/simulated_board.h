#pragma once
// Stages whose processors are not on this machine: computed here, in the time that the plan
// predicts.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/simulated/paced.h"
#include "plan/evidence.h"

namespace millrace::runtime {

/// Layers on the processor of this name, or a transfer there.
struct SimulatedRun {
  std::string processor;
  std::vector<LayerId> layers = {};
  TensorId transferred = {};
  std::string space = {};  // where a transfer goes, or layers work; empty: the host's
  auto operator<=>(const SimulatedRun&) const = default;
};
/// What a run takes.
using RunTimes = std::map<SimulatedRun, engine::simulated::RunTime>;

/// Layers of all stages that plan::is_simulated.
std::vector<LayerId> simulated_layers(const plan::Plan& plan);

/// The core that computes a simulated stage: any of this machine, so one.
board::Processor simulation_host();

/// Adds what is predicted for the plan's simulated phases, of a whole batch, `time_scale` times as
/// long. What feeding takes of a core's time is not in it: the devices take it when they run. Where
/// a core has streams, its times keep it. InputError if a phase has no time, or one of more than an
/// hour.
void add_run_times(const plan::Plan& plan, const plan::Evidence& evidence, double time_scale,
                   RunTimes& times);

struct ComputedHere {
  plan::Plan plan;
  std::set<board::Precision> replaced;
};
/// The plan with simulated layers that the engine cannot compute here as planned in its own choice
/// of f32, and the precisions that this replaces.
ComputedHere computed_here(const plan::Plan& plan, const network::Network& network,
                           const engine::Engine& computing);

/// Borrows both. Layers without a time take as long as they take.
std::unique_ptr<engine::simulated::PacedEngine> make_simulated_engine(engine::Engine& computing,
                                                                      const RunTimes& times);

}  // namespace millrace::runtime
