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
#include "plan/plan.h"

namespace millrace::runtime {

/// How long a run of these layers takes on the processor of this name.
using RunTimes = std::map<std::pair<std::string, std::vector<LayerId>>, Time>;

/// Of all stages that plan::is_simulated.
std::vector<LayerId> simulated_layers(const plan::Plan& plan);

/// The core that computes a simulated stage: any of this machine, so one.
board::Processor simulation_host();

/// Adds what the plan predicts for its simulated phases, of a whole batch, `time_scale` times as
/// long. InputError if a phase has no time, or one of more than an hour.
void add_run_times(const plan::Plan& plan, double time_scale, RunTimes& times);

/// Gives simulated layers that the engine cannot compute here as planned its own choice in f32; the
/// precisions that this replaces.
std::set<board::Precision> compute_here(plan::Plan& plan, const network::Network& network,
                                        const engine::Engine& computing);

/// Borrows both. Layers without a time take as long as they take.
std::unique_ptr<engine::simulated::PacedEngine> make_simulated_engine(engine::Engine& computing,
                                                                      const RunTimes& times);

}  // namespace millrace::runtime
