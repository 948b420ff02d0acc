#include "realtime/task_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"
#include "realtime/checked.h"
#include "realtime/structure.h"

namespace millrace::realtime {
namespace {

void check_time(Time time, const std::string& place, const char* what) {
  if (time < Time{}) throw InputError(place, fmt::format("its {} is negative", what));
  if (time > longest_time)
    throw InputError(place, fmt::format("its {} is longer than 2^50 ns, which are 13 days", what));
}

void check_events(const EventModel& events, const std::string& place) {
  check_time(events.period, place, "period");
  check_time(events.jitter, place, "jitter");
  check_time(events.min_distance, place, "minimum distance");
  check_time(events.burst_distance, place, "distance in a burst");
  if (events.period == Time{}) throw InputError(place, "its period is 0, expected more");
  if (events.burst < 1)
    throw InputError(place, fmt::format("found a burst of {}, expected 1 or more", events.burst));
  if (events.burst > 1'000'000) throw InputError(place, "its burst has more than 1000000 events");
  const Time least =
      events.burst == 1 ? events.period : std::min(events.burst_distance, events.period);
  if (events.min_distance > least)
    throw InputError(place, fmt::format("its minimum distance {} exceeds the distance of {} at "
                                        "which its events are due",
                                        events.min_distance.count(), least.count()));
  if (times(events.burst_distance, events.burst) > events.period)
    throw InputError(place, "its burst does not fit into its period");
}

void check_limit(const ActivationLimit& limit, const std::string& place) {
  check_time(limit.every, place, "limit's time");
  if (limit.every <= Time{}) throw InputError(place, "its limit's time is 0, expected more");
  if (limit.events < 1 || limit.events > 1'000'000)
    throw InputError(place, fmt::format("its limit allows {} activations, expected 1 to 1000000",
                                        limit.events));
}

void check_task(const TaskSystem& system, const Task& task) {
  const std::string place = fmt::format("task '{}'", task.name);
  check_time(task.worst, place, "worst-case time");
  check_time(task.best, place, "best-case time");
  check_time(task.blocking, place, "blocking");
  check_time(task.offset, place, "offset");
  if (task.worst == Time{}) throw InputError(place, "its worst-case time is 0, expected more");
  if (task.best > task.worst)
    throw InputError(place, fmt::format("its best-case time {} exceeds its worst-case time {}",
                                        task.best.count(), task.worst.count()));
  if (task.deadline) check_time(*task.deadline, place, "deadline");
  if (task.resource.index >= system.resources.size())
    throw InputError(place, "it names no resource of the system");
  constexpr std::size_t most_kernels = 4096;
  if (task.kernels.size() > most_kernels)
    throw InputError(place, fmt::format("it has {} kernels, expected at most {}; join some",
                                        task.kernels.size(), most_kernels));
  Time sum{};
  for (Time kernel : task.kernels) {
    check_time(kernel, place, "kernel");
    sum += kernel;
  }
  if (!task.kernels.empty() && sum != task.worst)
    throw InputError(place, fmt::format("its kernels take {} together, but its worst-case time is "
                                        "{}",
                                        sum.count(), task.worst.count()));
}

void check_table(const TaskSystem& system, const Resource& resource) {
  const std::string place = fmt::format("resource '{}'", resource.name);
  if (resource.policy != SchedulingPolicy::table) {
    if (resource.table.empty()) return;
    throw InputError(place, "it has a table, but its policy is not 'table'");
  }
  std::vector<bool> served(system.tasks.size(), false);
  for (const Slot& slot : resource.table) {
    check_time(slot.length, place, "slot");
    if (slot.length == Time{}) throw InputError(place, "a slot has length 0");
    if (!slot.task.valid()) continue;
    const Task& task = system[slot.task];
    if (system[task.resource].name != resource.name)
      throw InputError(place, fmt::format("its table has a slot for task '{}', which is on '{}'",
                                          task.name, system[task.resource].name));
    served[slot.task.index] = true;
  }
  for (std::size_t t = 0; t < system.tasks.size(); ++t)
    if (!served[t] && &system[system.tasks[t].resource] == &resource)
      throw InputError(place,
                       fmt::format("its table has no slot for task '{}'", system.tasks[t].name));
}

template <class Values>
void check_names(const Values& values, const char* what) {
  std::vector<std::string_view> names;
  for (const auto& value : values) {
    if (value.name.empty()) throw InputError(what, "one has no name");
    names.push_back(value.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    throw InputError(fmt::format("{} '{}'", what, *twice), "this name is there twice");
}

}  // namespace

ResourceId TaskSystem::add_resource(Resource resource) {
  resources.push_back(std::move(resource));
  return ResourceId(resources.size() - 1);
}

FlowId TaskSystem::add_flow(Flow flow) {
  flows.push_back(std::move(flow));
  return FlowId(flows.size() - 1);
}

TaskId TaskSystem::add_task(FlowId flow, Task task) {
  tasks.push_back(std::move(task));
  flows[flow.index].tasks.push_back(TaskId(tasks.size() - 1));
  return TaskId(tasks.size() - 1);
}

void check(const TaskSystem& system) {
  check_names(system.resources, "resource");
  check_names(system.tasks, "task");
  check_names(system.flows, "flow");
  for (const Task& task : system.tasks) check_task(system, task);
  for (const Resource& resource : system.resources) check_table(system, resource);
  for (const Flow& flow : system.flows) {
    const std::string place = fmt::format("flow '{}'", flow.name);
    check_events(flow.events, place);
    if (flow.deadline) check_time(*flow.deadline, place, "deadline");
    if (flow.limit) check_limit(*flow.limit, place);
    if (flow.tasks.empty()) throw InputError(place, "it has no task");
  }
  structure_of(system);
}

Time scheduling_deadline(const Task& task, const Flow& flow) {
  return task.deadline.value_or(flow.deadline.value_or(flow.events.period));
}

bool has_limits(const TaskSystem& system) {
  return std::ranges::any_of(system.flows, [](const Flow& flow) { return flow.limit.has_value(); });
}

TaskSystem without_limits(const TaskSystem& system) {
  TaskSystem result = system;
  for (Flow& flow : result.flows) {
    if (!flow.limit) continue;
    const Time hold = longest_hold(flow.events, *flow.limit);
    if (flow.deadline) flow.deadline = *flow.deadline - std::min(hold, *flow.deadline);
    flow.events = limited_events(*flow.limit);
    flow.limit.reset();
  }
  return result;
}

TaskSystem without_limits(const TaskSystem& system, FlowId as_it_comes) {
  TaskSystem result = without_limits(system);
  const Flow& flow = system[as_it_comes];
  result.flows[as_it_comes.index].events = held_events(flow.events, *flow.limit);
  return result;
}

const char* to_text(SchedulingPolicy policy) {
  constexpr std::array names{"fixed_priority",
                             "fixed_priority_nonpreemptive",
                             "fifo",
                             "fifo_by_kernel",
                             "edf",
                             "edf_nonpreemptive",
                             "table"};
  return names[static_cast<std::size_t>(policy)];
}

}  // namespace millrace::realtime
