#include "realtime/sensitivity.h"

#include <algorithm>
#include <set>

#include "base/bisect.h"
#include "realtime/checked.h"
#include "realtime/utilisation.h"

namespace millrace::realtime {
namespace {

constexpr std::int64_t million = 1'000'000;
constexpr std::int64_t most = 1000 * million;

Time scaled_time(Time time, std::int64_t millionths) {
  const __int128 product = static_cast<__int128>(time.count()) * millionths + million - 1;
  return Time(static_cast<std::int64_t>(product / million));
}

bool has_deadline(const TaskSystem& system) {
  return std::any_of(system.flows.begin(), system.flows.end(),
                     [](const Flow& flow) { return flow.deadline.has_value(); }) ||
         std::any_of(system.tasks.begin(), system.tasks.end(),
                     [](const Task& task) { return task.deadline.has_value(); });
}

/// Busy windows of nearly full resources are so long that their analysis takes minutes where flows
/// return to them.
constexpr double nearly_full = 0.9999;

bool has_flow_that_returns(const TaskSystem& system) {
  return std::ranges::any_of(system.flows, [&](const Flow& flow) {
    std::set<std::size_t> used;
    return std::ranges::any_of(flow.tasks, [&](TaskId task) {
      return !used.insert(system[task].resource.index).second;
    });
  });
}

bool is_nearly_full(const TaskSystem& system) {
  return std::ranges::any_of(utilisations(system), [](const Utilisation& one) {
    return one.share > nearly_full;
  });
}

bool fits(const TaskSystem& system, const AnalysisOptions& options) {
  if (has_flow_that_returns(system) && is_nearly_full(system)) return false;
  for (const Task& task : system.tasks)
    if (task.worst > longest_time) return false;
  return keeps_deadlines(system, options);
}

void set_worst(Task& task, Time worst) {
  if (task.kernels.empty()) {
    task.worst = worst;
    task.best = std::min(task.best, worst);
    return;
  }
  const Time before = task.worst;
  Time sum{};
  for (Time& kernel : task.kernels) {
    const __int128 product = static_cast<__int128>(kernel.count()) * worst.count();
    kernel = Time(static_cast<std::int64_t>(product / before.count()));
    sum += kernel;
  }
  task.kernels.back() += worst - sum;
  task.worst = worst;
  task.best = std::min(task.best, worst);
}

}  // namespace

TaskSystem scaled(const TaskSystem& system, std::int64_t millionths) {
  TaskSystem result = system;
  for (Task& task : result.tasks) {
    task.worst = scaled_time(task.worst, millionths);
    task.best = scaled_time(task.best, millionths);
    if (task.kernels.empty()) continue;
    task.worst = {};
    for (Time& kernel : task.kernels) task.worst += kernel = scaled_time(kernel, millionths);
    task.best = std::min(task.best, task.worst);
  }
  return result;
}

std::optional<std::int64_t> largest_growth(const TaskSystem& system,
                                           const AnalysisOptions& options) {
  if (!has_deadline(system)) return std::nullopt;
  return largest_that(
      1, most, [&](std::int64_t millionths) { return fits(scaled(system, millionths), options); });
}

std::optional<Time> largest_time(const TaskSystem& system, TaskId id,
                                 const AnalysisOptions& options) {
  if (!has_deadline(system)) return std::nullopt;
  Time longest = system[id].worst;
  for (const Flow& flow : system.flows) longest = std::max(longest, 2 * flow.events.period);
  TaskSystem changed = system;
  const auto found = largest_that(1, longest.count(), [&](std::int64_t worst) {
    changed.tasks[id.index] = system[id];
    set_worst(changed.tasks[id.index], Time(worst));
    return fits(changed, options);
  });
  if (!found) return std::nullopt;
  return Time(*found);
}

}  // namespace millrace::realtime
