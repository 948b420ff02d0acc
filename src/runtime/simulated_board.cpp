#include "runtime/simulated_board.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace millrace::runtime {
namespace {

/// A phase that takes longer than this would look like a program that hangs.
constexpr Time longest_run = std::chrono::hours(1);

Time run_time(const plan::Stage& stage, const plan::Phase& phase, double time_scale) {
  if (!phase.predicted)
    throw InputError(stage.name,
                     "a phase has no predicted time, so it cannot be simulated; make the plan "
                     "again with 'millrace plan'");
  const double run = seconds(*phase.predicted) * static_cast<double>(phase.batch) * time_scale;
  if (run <= seconds(longest_run)) return time_from_seconds(run);
  throw InputError(stage.name, fmt::format("a phase would take {:.3g} s, expected at most {:.0f} "
                                           "s; correct its predicted_ms, or the time scale",
                                           run, seconds(longest_run)));
}

}  // namespace

std::vector<LayerId> simulated_layers(const plan::Plan& plan) {
  std::vector<LayerId> layers;
  for (const plan::Stage& stage : plan.stages)
    if (plan::is_simulated(stage))
      for (const plan::Phase& phase : stage.phases)
        layers.insert(layers.end(), phase.layers.begin(), phase.layers.end());
  return layers;
}

board::Processor simulation_host() { return board::this_machine().processors.front(); }

void add_run_times(const plan::Plan& plan, double time_scale, RunTimes& times) {
  for (const plan::Stage& stage : plan.stages)
    if (plan::is_simulated(stage))
      for (const plan::Phase& phase : stage.phases)
        times[{stage.processor.name, phase.layers}] = run_time(stage, phase, time_scale);
}

std::set<board::Precision> compute_here(plan::Plan& plan, const network::Network& network,
                                        const engine::Engine& computing) {
  std::set<board::Precision> replaced;
  if (plan.variants.empty()) return replaced;
  const board::Processor host = simulation_host();
  for (const LayerId layer : simulated_layers(plan)) {
    board::Variant& variant = plan.variants[layer.index];
    const bool calibrated =
        variant.precision != board::Precision::int8 || plan.calibration.has_value();
    const auto offered = computing.variants(network, layer, host);
    if (calibrated && std::find(offered.begin(), offered.end(), variant) != offered.end()) continue;
    if (variant.precision != board::Precision::f32) replaced.insert(variant.precision);
    variant = {};
  }
  return replaced;
}

std::unique_ptr<engine::simulated::PacedEngine> make_simulated_engine(engine::Engine& computing,
                                                                      const RunTimes& times) {
  return std::make_unique<engine::simulated::PacedEngine>(
      computing, simulation_host(), [&times](const engine::SubnetRequest& request) {
        const auto found = times.find({request.processor.name, request.layers});
        return found == times.end() ? Time{} : found->second;
      });
}

}  // namespace millrace::runtime
