#include "runtime/simulated_board.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "plan/steps.h"
#include "plan/variants.h"

namespace millrace::runtime {
namespace {

/// A phase that takes longer than this would look like a program that hangs.
constexpr Time longest_run = std::chrono::hours(1);

using engine::simulated::RunTime;

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

/// What launching takes of the core while devices work, and not in its stage's own time.
class Feeders {
 public:
  explicit Feeders(const plan::Plan& plan) : plan_(plan), shared_(plan::shared_processors(plan)) {}

  /// Without the part of the stage's last phase that is feeding.
  std::optional<Time> own(const plan::ReplicaEvidence& replica, const board::Processor& processor,
                          std::size_t phase) const {
    const std::optional<Time> predicted = replica.phases[phase];
    const bool feeds = phase + 1 == replica.phases.size() && replica.feeding.core.empty() &&
                       !shared_.contains(processor.name);
    return predicted && feeds ? std::max(Time{}, *predicted - replica.feeding.time) : predicted;
  }

  /// Feeding of a run of a device's phase that takes so long.
  engine::simulated::Feeding of(const plan::ReplicaEvidence& replica, Time run) const {
    const std::string& core = replica.feeding.core;
    if (core.empty() || shared_.contains(core) || replica.predicted <= Time{}) return {};
    const double share = seconds(replica.feeding.time) / seconds(replica.predicted);
    return {core, time_from_seconds(share * seconds(run)), cores_here(core)};
  }

 private:
  /// Cores of this machine for a core of the plan whose stage is not simulated.
  std::vector<int> cores_here(const std::string& name) const {
    for (const plan::Stage& stage : plan_.stages)
      for (const board::Processor& processor : stage.processors)
        if (processor.name == name && !plan::is_simulated(stage)) return processor.cores;
    return {};
  }

  const plan::Plan& plan_;
  std::set<std::string> shared_;
};

/// Where a subnet works: what it reads or writes lies there.
std::string space_of(const engine::SubnetRequest& request) {
  for (const engine::Port& port : request.inputs)
    if (!port.layout.space.empty()) return port.layout.space;
  for (const std::string& space : request.spaces)
    if (!space.empty()) return space;
  return {};
}

SimulatedRun run_of(const engine::SubnetRequest& request) {
  const std::string& processor = request.processor.name;
  if (request.is_transfer) return {processor, {}, request.outputs[0], request.spaces[0]};
  return {processor, request.layers, {}, space_of(request)};
}

SimulatedRun run_of(const plan::Stage& stage, std::size_t replica, const plan::Phase& phase) {
  const std::string& processor = stage.processors[replica].name;
  if (phase.transfer) return {processor, {}, phase.transfer->tensor, phase.transfer->to};
  return {processor, phase.layers, {}, stage.space};
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
  const Feeders feeders(plan);
  auto replica = evidence.replicas.begin();
  for (const plan::Stage& stage : plan.stages)
    for (std::size_t r = 0; r < stage.processors.size(); ++r, ++replica)
      for (std::size_t p = 0; plan::is_simulated(stage) && p < stage.phases.size(); ++p) {
        const plan::Phase& phase = stage.phases[p];
        const board::Processor& processor = stage.processors[r];
        const Time run = run_time(plan::name_of(stage, r), feeders.own(*replica, processor, p),
                                  phase.batch, time_scale);
        times[run_of(stage, r, phase)] = RunTime(run, feeders.of(*replica, run));
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
  const auto time_of = [&times](const SimulatedRun& run) {
    const auto found = times.find(run);
    return found == times.end() ? RunTime{} : found->second;
  };
  return std::make_unique<engine::simulated::PacedEngine>(
      computing, simulation_host(),
      [time_of](const engine::SubnetRequest& request) { return time_of(run_of(request)); });
}

}  // namespace millrace::runtime
