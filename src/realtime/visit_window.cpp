#include "realtime/visit_window.h"

#include <algorithm>
#include <limits>

#include "realtime/fixpoint.h"
#include "realtime/policy.h"

namespace millrace::realtime {

/// How long after its event a task comes, at most, if nothing of the level waited before its visit.
struct VisitWindows::Reach {
  Time due{}, source{};  // since the event was due, since the flow's activation
};

/// The tasks of a resource from a priority on.
struct VisitWindows::Level {
  TaskId task;
  std::int64_t least;
  const std::vector<TaskState>& states;
  const TaskState& now;

  const TaskState& state(TaskId other) const {
    return other == task ? now : states[other.index];
  }
};

namespace {

constexpr std::int64_t all = std::numeric_limits<std::int64_t>::min();

bool has_levels(const Resource& resource) {
  return resource.policy == SchedulingPolicy::fixed_priority ||
         resource.policy == SchedulingPolicy::fixed_priority_nonpreemptive;
}

}  // namespace

VisitWindows::VisitWindows(const TaskSystem& system, const Structure& structure)
    : system_(system), structure_(structure) {}

/// Not with the end of another task of the level and the resource.
bool VisitWindows::begins(TaskId task, const Level& level) const {
  return std::ranges::any_of(system_[task].after, [&](TaskId before) {
    return system_[before].resource != system_[task].resource ||
           system_[before].priority < level.least;
  }) || system_[task].after.empty();
}

/// If nothing of the level waited at some time, and the task comes later, then the visit began
/// later, or an offset was over later.
VisitWindows::Reach VisitWindows::reach(TaskId task, const Level& level) const {
  const TaskState& state = level.state(task);
  if (begins(task, level)) return {state.latest, state.since_source};
  Reach found{system_[task].offset, system_[task].offset};
  for (TaskId before : system_[task].after) {
    const Reach earlier = reach(before, level);
    found.due = std::max(found.due, earlier.due);
    found.source = std::max(found.source, earlier.source);
  }
  return found;
}

/// From when nothing of the level waits until nothing does again.
Time VisitWindows::window(const Level& level) const {
  struct Work {
    Time worst;
    EventModel events;
    bool begins;
  };
  std::vector<Work> work;
  Time blocking{};
  long double load = 0;
  for (TaskId other : structure_.on[system_[level.task].resource.index]) {
    const Task& task = system_[other];
    if (task.priority < level.least) {
      blocking = std::max(blocking, task.kernels.empty() ? task.worst
                                                         : std::ranges::max(task.kernels));
      continue;
    }
    const TaskState& state = level.state(other);
    if (state.endless) return unbounded;
    Work one{plus(task.worst, task.blocking), state.arrivals, begins(other, level)};
    if (!one.begins) {
      one.events.jitter = std::max(Time{}, reach(other, level).due - state.earliest);
      one.events.min_distance = Time{};
    }
    load += static_cast<long double>(one.worst.count()) *
            static_cast<long double>(one.events.burst) /
            static_cast<long double>(one.events.period.count());
    work.push_back(std::move(one));
  }
  if (load >= 1) return unbounded;
  if (system_[system_[level.task].resource].policy == SchedulingPolicy::fixed_priority)
    blocking = Time{};
  return least_fixpoint(plus(blocking, Time{1}), [&](Time time) {
    Time demand = blocking;
    // What follows another task may come just at the end.
    for (const Work& one : work)
      demand = plus(demand, times(one.worst, one.begins ? one.events.events_within(time)
                                                        : one.events.events_up_to(time)));
    return demand;
  });
}

PathBound VisitWindows::at(const Level& level) const {
  const Time longest = window(level);
  if (longest == unbounded) return {};
  const Reach latest = reach(level.task, level);
  return {longest, plus(latest.source, longest), plus(latest.due, longest)};
}

PathBound VisitWindows::of(TaskId task, const std::vector<TaskState>& states,
                           const TaskState& now) const {
  const Resource& resource = system_[system_[task].resource];
  if (resource.policy == SchedulingPolicy::table) return {};
  if (!has_levels(resource)) return at({task, all, states, now});
  PathBound best;
  std::vector<std::int64_t> levels;
  for (TaskId other : structure_.on[system_[task].resource.index])
    if (system_[other].priority <= system_[task].priority)
      levels.push_back(system_[other].priority);
  std::ranges::sort(levels);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  for (const std::int64_t least : levels) {
    const PathBound found = at({task, least, states, now});
    best.response = std::min(best.response, found.response);
    best.done = std::min(best.done, found.done);
    best.completion = std::min(best.completion, found.completion);
  }
  return best;
}

}  // namespace millrace::realtime
