#include "runtime/simulated_board.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "plan/variants.h"

namespace millrace::runtime {
namespace {

/// A phase that takes longer than this would look like a program that hangs.
constexpr Time longest_run = std::chrono::hours(1);

Time run_time(const std::string& stage, std::optional<Time> predicted, std::int64_t batch,
              double time_scale) {
  if (!predicted)
    throw InputError(stage,
                     "a phase has no predicted time, so it cannot be simulated; make the plan "
                     "again with 'millrace plan'");
  const double run = seconds(*predicted) * static_cast<double>(batch) * time_scale;
  if (run <= seconds(longest_run)) return time_from_seconds(run);
  throw InputError(stage, fmt::format("a phase would take {:.3g} s, expected at most {:.0f} s; "
                                      "correct its predicted_ms, or the time scale",
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

void add_run_times(const plan::Plan& plan, const plan::Evidence& evidence, double time_scale,
                   RunTimes& times) {
  for (std::size_t s = 0, actor = 0; s < plan.stages.size(); ++s) {
    const plan::Stage& stage = plan.stages[s];
    for (std::size_t r = 0; r < stage.processors.size(); ++r, ++actor)
      for (std::size_t p = 0; plan::is_simulated(stage) && p < stage.phases.size(); ++p) {
        const plan::Phase& phase = stage.phases[p];
        times[{stage.processors[r].name, phase.layers}] = run_time(
            plan::name_of(stage, r), evidence.replicas[actor].phases[p], phase.batch, time_scale);
      }
  }
}

ComputedHere computed_here(const plan::Plan& plan, const network::Network& network,
                           const engine::Engine& computing) {
  std::set<board::Precision> replaced;
  std::vector<board::Variant> variants = plan.variants;
  const board::Processor host = simulation_host();
  for (const LayerId layer : simulated_layers(plan)) {
    if (variants.empty()) break;
    board::Variant& variant = variants[layer.index];
    const bool calibrated =
        variant.precision != board::Precision::int8 || plan.calibration.has_value();
    const auto offered = computing.variants(network, layer, host);
    if (calibrated && std::find(offered.begin(), offered.end(), variant) != offered.end()) continue;
    if (variant.precision != board::Precision::f32) replaced.insert(variant.precision);
    variant = {};
  }
  return {plan::with_variants(plan, std::move(variants)), std::move(replaced)};
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
