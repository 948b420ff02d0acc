#include "realtime/whole_window.h"

#include <algorithm>

#include "realtime/policy.h"

namespace millrace::realtime {
namespace {

bool holds_up(const TaskSystem& system, TaskId other, TaskId task) {
  return system[system[task].resource].policy != SchedulingPolicy::fixed_priority ||
         system[other].priority >= system[task].priority;
}

void add_rivals(const TaskSystem& system, const Structure& structure, TaskId task,
                std::vector<FlowId>& flows) {
  for (TaskId other : structure.on[system[task].resource.index]) {
    const FlowId flow = structure.flow_of[other.index];
    const bool is_known = std::find(flows.begin(), flows.end(), flow) != flows.end();
    if (!is_known && holds_up(system, other, task)) flows.push_back(flow);
  }
}

Time work_of(const TaskSystem& system, const Flow& flow) {
  Time sum{};
  for (TaskId task : flow.tasks) sum = plus(sum, plus(system[task].worst, system[task].blocking));
  return sum;
}

/// What is under way when all waits for offsets was due no longer ago than this.
Time longest_offset(const TaskSystem& system, const Flow& flow) {
  Time longest{};
  for (TaskId task : flow.tasks) longest = std::max(longest, system[task].offset);
  return longest;
}

}  // namespace

Time whole_window(const TaskSystem& system, const Structure& structure, FlowId flow) {
  std::vector<FlowId> flows{flow};
  std::vector<Time> work;
  std::vector<EventModel> events;
  Time once{};
  long double load = 0;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const Flow& found = system[flows[f]];
    for (TaskId task : found.tasks) {
      if (system[system[task].resource].policy == SchedulingPolicy::table) return unbounded;
      add_rivals(system, structure, task, flows);
    }
    work.push_back(work_of(system, found));
    events.push_back(found.events);
    if (const Time offset = longest_offset(system, found); offset > Time{}) {
      events.back().jitter = std::max(events.back().jitter, offset);
      events.back().min_distance = Time{};
    }
    once = plus(once, work.back());
    load += static_cast<long double>(work.back().count()) *
            static_cast<long double>(found.events.burst) /
            static_cast<long double>(found.events.period.count());
  }
  if (load >= 1) return unbounded;
  const Time window = least_fixpoint(once, [&](Time time) {
    Time demand{};
    for (std::size_t f = 0; f < flows.size(); ++f)
      demand = plus(demand, times(work[f], events[f].events_within(time)));
    return demand;
  });
  return window == unbounded ? unbounded : plus(window, longest_offset(system, system[flow]));
}

}  // namespace millrace::realtime
