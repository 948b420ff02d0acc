#pragma once
// Which of the jobs that are ready a resource runs next: for simulations.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "realtime/task_system.h"

namespace millrace::realtime {

/// One execution of a task for one event of its flow.
struct TaskJob {
  TaskId task;
  std::int64_t event = 0;
  Time activated{}, due_end{};     // due_end: activation plus EDF's deadline
  Time queued{};                   // when its next kernel came to the end of the queue
  std::uint64_t order = 0;         // among equals
  std::vector<Time> kernels = {};  // what is left of each, the next one last
};

/// A resource and its jobs.
struct ResourceState {
  std::vector<TaskJob> ready;
  std::optional<TaskJob> running;
  Time piece_begin{}, piece_end = Time::max();  // when a decision is due
  Time table_phase{};
};

/// The index in `state.ready` of the job that the policy runs next; none: it waits.
std::optional<std::size_t> chosen(const TaskSystem& system, const Resource& resource,
                                  const ResourceState& state, Time now);
/// The table's slot at `now` and when it ends.
std::pair<TaskId, Time> slot_at(const Resource& resource, Time phase, Time now);

}  // namespace millrace::realtime
