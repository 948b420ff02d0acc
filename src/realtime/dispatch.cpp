#include "realtime/dispatch.h"

#include <algorithm>
#include <tuple>

namespace millrace::realtime {
namespace {

std::tuple<std::int64_t, Time, std::uint64_t> rank(const TaskSystem& system,
                                                   SchedulingPolicy policy, const TaskJob& job) {
  switch (policy) {
    case SchedulingPolicy::fixed_priority:
    case SchedulingPolicy::fixed_priority_nonpreemptive:
      return {-system[job.task].priority, job.activated, job.order};
    case SchedulingPolicy::edf:
    case SchedulingPolicy::edf_nonpreemptive:
      return {job.due_end.count(), job.activated, job.order};
    case SchedulingPolicy::fifo:
    case SchedulingPolicy::fifo_by_kernel:
    case SchedulingPolicy::table:
      break;
  }
  return {0, job.queued, job.order};
}

/// By TaskId: the job of the earliest event.
std::vector<std::size_t> first_of_tasks(const TaskSystem& system,
                                        const std::vector<TaskJob>& ready) {
  std::vector<std::size_t> first(system.tasks.size(), ready.size());
  for (std::size_t j = 0; j < ready.size(); ++j) {
    std::size_t& known = first[ready[j].task.index];
    if (known == ready.size() || ready[j].event < ready[known].event) known = j;
  }
  return first;
}

}  // namespace

std::pair<TaskId, Time> slot_at(const Resource& resource, Time phase, Time now) {
  Time cycle{};
  for (const Slot& slot : resource.table) cycle += slot.length;
  const Time place = (now + phase) % cycle;
  Time end{};
  for (const Slot& slot : resource.table) {
    end += slot.length;
    if (place < end) return {slot.task, now + (end - place)};
  }
  return {TaskId{}, now};
}

std::optional<std::size_t> chosen(const TaskSystem& system, const Resource& resource,
                                  const ResourceState& state, Time now) {
  std::optional<std::size_t> best;
  const bool is_table = resource.policy == SchedulingPolicy::table;
  const TaskId slot = is_table ? slot_at(resource, state.table_phase, now).first : TaskId{};
  const std::vector<std::size_t> first = first_of_tasks(system, state.ready);
  for (std::size_t j = 0; j < state.ready.size(); ++j) {
    if (first[state.ready[j].task.index] != j) continue;
    if (is_table && state.ready[j].task != slot) continue;
    if (!best || rank(system, resource.policy, state.ready[j]) <
                     rank(system, resource.policy, state.ready[*best]))
      best = j;
  }
  return best;
}

}  // namespace millrace::realtime
