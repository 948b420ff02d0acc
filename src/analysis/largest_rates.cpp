// How fast a deployment may be.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/schedulability.h"
#include "base/bisect.h"
#include "deployment/events.h"

namespace millrace::analysis {
namespace {

constexpr std::int64_t million = 1'000'000;
constexpr double lowest_fps = 1e-6;  // that a system may have

/// A scenario at its highest level and clocks, whose rates and whose processors' speeds change.
class FasterScenario {
 public:
  FasterScenario(const deployment::Deployment& deployment, const board::Board& board,
                 system::ScenarioId scenario)
      : deployment_(deployment),
        board_(board),
        operation_{scenario, deployment.system.levels - 1},
        rates_(deployment.system.groups) {}

  /// 0: none is low enough.
  std::int64_t largest() {
    const auto holds = [this](std::int64_t millionths) {
      if (!obstacle(millionths).empty()) return false;
      const realtime::TaskSystem tasks = task_system(deployment_, board_, operation_);
      return realtime::is_schedulable(tasks, realtime::analyse(tasks));
    };
    return largest_that(1, LargestRates::most, holds).value_or(0);
  }

  /// All tasks on the processor take a tenth less; the others as they are.
  void speed_up(const std::string& processor) {
    for (deployment::Assignment& assignment : deployment_.assignments)
      for (deployment::Task& task : assignment.tasks) {
        if (task.processor != processor) continue;
        task.worst = shorter(task.worst);
        task.best = std::min(shorter(task.best), task.worst);
        task.average = std::clamp(task.average, task.best, task.worst);
        if (task.kernels.empty()) continue;
        task.worst = {};
        for (Time& kernel : task.kernels) task.worst += kernel = shorter(kernel);
      }
  }

  std::string reason(std::int64_t millionths) {
    if (std::string found = obstacle(millionths); !found.empty()) return found;
    return check_deadlines(without_settings(), board_,
                           {operation_.scenario, operation_.level, {1, 0}})
        .front()
        .reason;
  }

 private:
  static Time shorter(Time time) { return time - time / 10; }

  /// Sets the rates. Why no analysis counts at them; empty: one does.
  std::string obstacle(std::int64_t millionths) {
    system::System& system = deployment_.system;
    const double factor = static_cast<double>(millionths) / million;
    const auto faster = [&](double fps) { return std::max(lowest_fps, fps * factor); };
    for (const system::GroupId id : system[operation_.scenario].groups) {
      const system::Rates& rates = rates_[id.index].rates;
      system.groups[id.index].rates = {faster(rates.least_fps), faster(rates.most_fps)};
      const Time deadline = deadline_of(system, id, operation_.level);
      if (deadline <= system.overhead)
        return "the controller's overhead leaves nothing of a deadline";
      if (deployment::frames_within_deadline(system, id, operation_.level) > 1 &&
          waits_for_frame_before(id))
        return fmt::format(
            "the deadline of group '{}' is longer than {}, and a frame of it may wait for "
            "the one before",
            system[id].name,
            system[id].events.is_periodic() ? "its period" : "the least time between two frames");
    }
    return {};
  }

  bool waits_for_frame_before(system::GroupId id) const {
    return system::waits_for_earlier_iterations(deployment_.system[id].graph) ||
           deployment::has_stage_of_several_phases(deployment_.assignments[id.index]);
  }

  deployment::Deployment without_settings() const {
    deployment::Deployment result = deployment_;
    result.settings.clear();
    return result;
  }

  deployment::Deployment deployment_;
  const board::Board& board_;
  deployment::Operation operation_;
  std::vector<system::Group> rates_;
};

}  // namespace

std::optional<LargestRates> largest_rates(const deployment::Deployment& deployment,
                                          const board::Board& board,
                                          std::optional<system::ScenarioId> scenario) {
  LargestRates result{.millionths = LargestRates::most,
                      .scenario = scenario.value_or(system::ScenarioId(0)),
                      .processor = {},
                      .reason = {}};
  for (std::size_t s = 0; s < deployment.system.scenarios.size(); ++s) {
    const system::ScenarioId id(s);
    if (deployment.system[id].groups.empty() || (scenario && *scenario != id)) continue;
    const std::int64_t found = FasterScenario(deployment, board, id).largest();
    if (found >= result.millionths) continue;
    result.millionths = found;
    result.scenario = id;
  }
  if (result.millionths == 0) return std::nullopt;
  if (result.millionths == LargestRates::most) return result;
  result.reason = FasterScenario(deployment, board, result.scenario).reason(result.millionths + 1);
  std::int64_t best = result.millionths;
  for (const board::Processor& processor : board.processors) {
    FasterScenario faster(deployment, board, result.scenario);
    faster.speed_up(processor.name);
    const std::int64_t found = faster.largest();
    if (found <= best) continue;
    best = found;
    result.processor = processor.name;
  }
  return result;
}

}  // namespace millrace::analysis
