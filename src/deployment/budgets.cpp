#include "deployment/budgets.h"

#include <algorithm>

#include "realtime/checked.h"

namespace millrace::deployment {

FrameBudget frame_budget(const system::Budget& budget, Time every, Time worst) {
  worst = std::max(worst, Time{1});
  if (worst > budget.time) {
    const std::int64_t most = std::max<std::int64_t>(1, realtime::longest_time / every);
    const std::int64_t times = std::min(most, realtime::ceiling(worst, budget.time));
    return {{1, every * times}, worst, 1};
  }
  const std::int64_t frames = std::min(most_frames_of_a_budget, budget.time / worst);
  const Time frame = budget.time / frames;
  return {{frames, every},
          frame,
          static_cast<double>(frame.count()) / static_cast<double>(worst.count())};
}

Time worst_frame(const Assignment& assignment) {
  Time sum{};
  for (const Task& task : assignment.tasks) sum += task.worst;
  return sum;
}

std::optional<FrameBudget> frame_budget(const Deployment& deployment, system::GroupId group,
                                        std::int64_t level) {
  const system::System& system = deployment.system;
  if (!system[group].budget) return std::nullopt;
  return frame_budget(*system[group].budget, budget_every(system, group, level),
                      worst_frame(deployment.assignments.at(group.index)));
}

namespace {

double slowest_at(const Deployment& deployment, const board::Board& board,
                  system::ScenarioId scenario, std::int64_t level) {
  const Setting* setting = setting_for(deployment, scenario, level);
  double slowest = 1;
  if (setting == nullptr) return slowest;
  for (const board::Device& device : board.devices)
    slowest = std::max(slowest, slowdown(device, setting->clocks));
  return slowest;
}

}  // namespace

std::vector<Time> frame_allowances(const Deployment& deployment, const board::Board& board,
                                   system::GroupId group) {
  std::vector<Time> result;
  if (!deployment.system[group].budget) return result;
  for (std::size_t s = 0; s < deployment.system.scenarios.size(); ++s)
    for (std::int64_t level = 0; level < deployment.system.levels; ++level)
      result.push_back(stretched(frame_budget(deployment, group, level)->frame,
                                 slowest_at(deployment, board, system::ScenarioId(s), level)));
  return result;
}

/// Of an aperiodic group nothing else is known.
void limit_flow(realtime::Flow& flow, const system::Group& group, const FrameBudget& budget) {
  if (group.events.aperiodic)
    flow.events = realtime::limited_events(budget.limit);
  else
    flow.limit = budget.limit;
}

Task grown(Task task, double growth) {
  task.worst = stretched(task.worst, growth);
  if (task.kernels.empty()) return task;
  task.worst = {};
  for (Time& kernel : task.kernels) {
    kernel = stretched(kernel, growth);
    task.worst += kernel;
  }
  return task;
}

}  // namespace millrace::deployment
