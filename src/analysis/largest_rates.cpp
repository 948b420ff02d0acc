// How fast a deployment may be.
#include <algorithm>

#include "analysis/schedulability.h"

namespace millrace::analysis {
namespace {

constexpr std::int64_t million = 1'000'000, most = 1000 * million;

/// A scenario at its highest level and clocks, whose rates and whose processors' speeds change.
class FasterScenario {
 public:
  FasterScenario(const deployment::Deployment& deployment, const board::Board& board,
                 system::ScenarioId scenario)
      : deployment_(deployment),
        board_(board),
        operation_{scenario, deployment.system.levels - 1},
        rates_(deployment.system.groups) {}

  bool holds(std::int64_t millionths) {
    if (!has_time(millionths)) return false;
    const realtime::TaskSystem tasks = task_system(deployment_, board_, operation_);
    return realtime::is_schedulable(tasks, realtime::analyse(tasks));
  }

  std::int64_t largest() {
    std::int64_t low = 0, high = most;
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      if (holds(middle))
        low = middle;
      else
        high = middle - 1;
    }
    return low;
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
    if (!has_time(millionths)) return "the controller's overhead leaves nothing of a deadline";
    return check_deadlines(without_settings(), board_,
                           {operation_.scenario, operation_.level, {1, 0}})
        .front()
        .reason;
  }

 private:
  static Time shorter(Time time) { return time - time / 10; }

  /// Sets the rates; false if a deadline is not above the controller's overhead.
  bool has_time(std::int64_t millionths) {
    system::System& system = deployment_.system;
    const double factor = static_cast<double>(millionths) / million;
    for (const system::GroupId group : system[operation_.scenario].groups) {
      system.groups[group.index].rates.least_fps = rates_[group.index].rates.least_fps * factor;
      system.groups[group.index].rates.most_fps = rates_[group.index].rates.most_fps * factor;
      if (deadline_of(system, group, operation_.level) <= system.overhead) return false;
    }
    return true;
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
  LargestRates result{.millionths = most + 1, .scenario = {}, .processor = {}, .reason = {}};
  for (std::size_t s = 0; s < deployment.system.scenarios.size(); ++s) {
    const system::ScenarioId id(s);
    if (deployment.system[id].groups.empty() || (scenario && *scenario != id)) continue;
    const std::int64_t found = FasterScenario(deployment, board, id).largest();
    if (found >= result.millionths) continue;
    result.millionths = found;
    result.scenario = id;
  }
  if (result.millionths == 0 || result.millionths > most) return std::nullopt;
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
