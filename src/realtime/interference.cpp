#include "realtime/interference.h"

#include <algorithm>

#include "realtime/policy.h"

namespace millrace::realtime {
namespace {

std::int64_t floor_of(Time a, Time b) {
  const std::int64_t quotient = a.count() / b.count();
  return quotient - (a.count() % b.count() < 0 ? 1 : 0);
}

Time last_due(const Interferer& task, Time window) {
  return std::min(window, task.until) - task.earliest - Time{1};
}

std::int64_t jobs_at_most(const Interferer& task, Time window) {
  return task.arrivals == nullptr ? std::numeric_limits<std::int64_t>::max()
                                  : task.arrivals->events_within(std::min(window, task.until));
}

/// Rest of the jobs that are partly done when the window begins.
Time rest_of_earlier(const Interferer& task, const EventModel& due, Time phase, Time last) {
  const Time end = std::min(last, task.left + task.worst - Time{1});
  const std::int64_t before = floor_of(task.left - phase, due.period);
  const std::int64_t jobs = floor_of(end - phase, due.period) - before;
  if (jobs <= 0) return Time{};
  const Time least = phase + times(due.period, before + 1) - task.left;
  return plus(times(least, jobs), times(due.period, jobs * (jobs - 1) / 2));
}

Time work_at_phase(const FlowInterference& flow, Time window, Time phase) {
  const EventModel& due = flow.due;
  Time work{};
  for (const Interferer& task : flow.tasks) {
    const Time last = last_due(task, window);
    if (last <= task.left) continue;
    Time left = task.left;
    if (task.ends_by_then) {
      work = plus(work, rest_of_earlier(task, due, phase, last));
      left = std::min(last, left + std::max(Time{}, task.worst - Time{1}));
    }
    const std::int64_t jobs =
        floor_of(last - phase, due.period) - floor_of(left - phase, due.period);
    work = plus(work, times(task.worst, std::min(jobs, jobs_at_most(task, window))));
  }
  return work;
}

Time work_of_each(const FlowInterference& flow, Time window) {
  Time work{};
  for (const Interferer& task : flow.tasks) {
    const std::int64_t jobs = flow.due.events_within(last_due(task, window) - task.left);
    work = plus(work, times(task.worst, std::min(jobs, jobs_at_most(task, window))));
  }
  return work;
}

}  // namespace

Time FlowInterference::most_work(Time window) const {
  if (due.sporadic || due.burst > 1) return work_of_each(*this, window);
  Time most{};
  for (const Interferer& task : tasks)
    most = std::max(most, work_at_phase(*this, window, last_due(task, window)));
  return most;
}

Time Interference::longest_window_below(Time limit) const {
  Time window = constant;
  while (window < limit) {
    Time demand = constant;
    for (const LaterInterference& task : later) {
      const std::int64_t jobs = ceiling(task.ahead + std::min(window, task.until), period) - 1;
      demand = plus(demand, times(task.worst, std::max<std::int64_t>(0, jobs)));
    }
    for (const FlowInterference& flow : flows) demand = plus(demand, flow.most_work(window));
    if (demand <= window) return window;
    window = demand;
  }
  return unbounded;
}

}  // namespace millrace::realtime
