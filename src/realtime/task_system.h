#pragma once
// Who executes what, and when it has to: resources, tasks, and flows of tasks.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "realtime/event_model.h"

namespace millrace::realtime {

using ResourceId = Id<struct ResourceTag>;  // TaskSystem::resources
using TaskId = Id<struct TaskTag>;          // TaskSystem::tasks
using FlowId = Id<struct FlowTag>;          // TaskSystem::flows

/// How a resource chooses among ready jobs. docs/methods/realtime.md says what each assumes.
enum class SchedulingPolicy {
  fixed_priority,                // preemptive; a higher number is a higher priority
  fixed_priority_nonpreemptive,  // a job yields only between its kernels
  fifo,                          // whole jobs in the order of their activation
  fifo_by_kernel,                // the order is that of kernels; a job queues one at a time
  edf,                           // earliest deadline first, preemptive
  edf_nonpreemptive,
  table,  // time division: a task runs in its slots only
};

inline constexpr std::array all_policies{SchedulingPolicy::fixed_priority,
                                         SchedulingPolicy::fixed_priority_nonpreemptive,
                                         SchedulingPolicy::fifo,
                                         SchedulingPolicy::fifo_by_kernel,
                                         SchedulingPolicy::edf,
                                         SchedulingPolicy::edf_nonpreemptive,
                                         SchedulingPolicy::table};

/// A part of a table's cycle, for one task or, without task, for none.
struct Slot {
  TaskId task;
  Time length{};
  bool operator==(const Slot&) const = default;
};

struct Resource {
  std::string name;
  SchedulingPolicy policy = SchedulingPolicy::fixed_priority;
  std::vector<Slot> table = {};  // one cycle; policy `table` only
  bool operator==(const Resource&) const = default;
};

/// What a resource executes in one piece each time its flow is activated.
struct Task {
  std::string name;
  ResourceId resource;
  Time worst{};  // execution time without interference
  Time best{};
  std::vector<TaskId> after = {};  // tasks of the flow that end first; none: activated by the event
  std::int64_t priority = 0;       // a higher number is a higher priority
  Time blocking{};                 // by what is no task of the system
  Time offset{};                   // released no earlier than this after the event was due
  std::optional<Time> deadline = {};  // from the task's activation; for EDF; none: the flow's
  std::vector<Time> kernels = {};     // worst times, in order; their sum is `worst`; none: one
  bool operator==(const Task&) const = default;
};

/// An acyclic graph of tasks, often a chain, that one event activates.
struct Flow {
  std::string name;
  EventModel events;
  std::optional<Time> deadline = {};  // of all its tasks, from the activation
  bool deadline_from_due = false;     // or from when the event was due, as MAST counts
  std::vector<TaskId> tasks = {};     // filled in by add_task
  /// More activations wait; the flow's response and deadline count from when they came.
  std::optional<ActivationLimit> limit = {};
  bool operator==(const Flow&) const = default;
};

struct TaskSystem {
  std::vector<Resource> resources;
  std::vector<Task> tasks;
  std::vector<Flow> flows;

  ResourceId add_resource(Resource resource);
  FlowId add_flow(Flow flow);
  TaskId add_task(FlowId flow, Task task);

  const Resource& operator[](ResourceId id) const { return resources[id.index]; }
  const Task& operator[](TaskId id) const { return tasks[id.index]; }
  const Flow& operator[](FlowId id) const { return flows[id.index]; }
  bool operator==(const TaskSystem&) const = default;
};

/// InputError naming the resource, task or flow if a time is negative or too long, a period is 0,
/// kernels do not add up, tasks wait in a circle, or a table has no slot for a task.
void check(const TaskSystem& system);

/// The relative deadline by which EDF orders the task's jobs.
Time scheduling_deadline(const Task& task, const Flow& flow);

bool has_limits(const TaskSystem& system);

/// Each flow with a limit has all activations that it allows, and what waiting leaves of its
/// deadline. Others' bounds hold there however often it comes.
TaskSystem without_limits(const TaskSystem& system);

/// The same, but this flow comes as its own events let it.
TaskSystem without_limits(const TaskSystem& system, FlowId as_it_comes);

const char* to_text(SchedulingPolicy policy);

}  // namespace millrace::realtime
