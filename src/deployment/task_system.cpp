// A deployment in one scenario, at one level and with certain clocks, as a task system.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "deployment/budgets.h"
#include "deployment/deployment.h"
#include "deployment/events.h"
#include "deployment/releases.h"

namespace millrace::deployment {
namespace {

/// The board's processors as resources, and how much slower each is.
struct Resources {
  std::vector<double> slowdowns;
  std::vector<bool> is_core;

  Resources(realtime::TaskSystem& result, const board::Board& board, const Clocks& clocks) {
    for (const auto& [name, clock] : clocks)
      if (std::ranges::find(board.devices, name, &board::Device::name) == board.devices.end())
        throw InputError(fmt::format("clock of '{}'", name),
                         fmt::format("the board '{}' has no device of this name", board.name));
    for (const board::Processor& processor : board.processors) {
      const board::Device* device = device_of(board, processor);
      result.add_resource({.name = processor.name, .policy = policy_of(device)});
      slowdowns.push_back(device ? slowdown(*device, clocks) : 1);
      is_core.push_back(processor.kind == board::ProcessorKind::cpu);
    }
  }

  /// Cost of releasing a frame, by resource; the thread has no fixed core.
  std::vector<Time> release_costs(const system::System& system) const {
    std::vector<Time> costs;
    for (std::size_t r = 0; r < slowdowns.size(); ++r)
      costs.push_back(is_core[r] ? stretched(system.release_cost, slowdowns[r]) : Time{});
    return costs;
  }
};

std::size_t index_of(const board::Board& board, const std::string& processor) {
  const auto found = std::ranges::find(board.processors, processor, &board::Processor::name);
  if (found == board.processors.end())
    throw InputError(fmt::format("processor '{}'", processor),
                     fmt::format("the board '{}' has none of this name", board.name));
  return static_cast<std::size_t>(found - board.processors.begin());
}

realtime::Task realtime_task(const Task& task, std::int64_t priority, std::size_t resource,
                             double factor) {
  realtime::Task result{.name = task.name,
                        .resource = realtime::ResourceId(resource),
                        .worst = stretched(task.worst, factor),
                        .best = stretched(task.best, factor)};
  result.priority = priority;
  if (task.kernels.size() < 2) return result;
  result.worst = {};
  for (Time kernel : task.kernels) {
    result.kernels.push_back(stretched(kernel, factor));
    result.worst += result.kernels.back();
  }
  return result;
}

}  // namespace

realtime::SchedulingPolicy policy_of(const board::Device* device) {
  switch (device ? device->scheduling : board::Scheduling::preemptive_fixed_priority) {
    case board::Scheduling::fifo_by_kernel:
      return realtime::SchedulingPolicy::fifo_by_kernel;
    case board::Scheduling::fifo_by_subnet:
      return realtime::SchedulingPolicy::fifo;
    case board::Scheduling::preemptive_fixed_priority:
      break;
  }
  return realtime::SchedulingPolicy::fixed_priority;
}

Time stretched(Time time, double slowdown) {
  if (slowdown == 1) return time;
  return Time(static_cast<std::int64_t>(std::ceil(static_cast<double>(time.count()) * slowdown)));
}

double slowdown(const board::Device& device, const Clocks& clocks) {
  const auto found = clocks.find(device.name);
  if (found == clocks.end() || device.clocks.empty()) return 1;
  if (std::ranges::find(device.clocks, found->second) == device.clocks.end())
    throw InputError(fmt::format("device '{}'", device.name),
                     fmt::format("it has no clock of {} MHz", found->second.value));
  return device.clocks.back().value / found->second.value;
}

realtime::TaskSystem task_system(const Deployment& deployment, const board::Board& board,
                                 const Operation& operation) {
  realtime::TaskSystem result;
  const Resources resources(result, board, operation.clocks);
  const system::System& system = deployment.system;
  for (system::GroupId group : system[operation.scenario].groups) {
    const Assignment& assignment = deployment.assignments.at(group.index);
    realtime::Flow flow;
    flow.name = system[group].name;
    flow.events = events_of(system, group, operation.level);
    const auto budget = frame_budget(deployment, group, operation.level);
    if (budget) limit_flow(flow, system[group], *budget);
    flow.deadline = deadline_of(system, group, operation.level) - system.overhead;
    if (*flow.deadline <= Time{})
      throw InputError(
          system[group].place,
          fmt::format("the controller's overhead of {} leaves nothing of the deadline of "
                      "group '{}'",
                      millrace::to_text(system.overhead), system[group].name));
    const realtime::FlowId id = result.add_flow(std::move(flow));
    std::vector<realtime::TaskId> ids;
    for (const Task& task : assignment.tasks) {
      const std::size_t resource = index_of(board, task.processor);
      realtime::Task added = realtime_task(budget ? grown(task, budget->growth) : task,
                                           assignment.priority, resource,
                                           resources.slowdowns[resource]);
      added.name = fmt::format("{}.{}", system[group].name, task.name);
      for (std::size_t before : task.after) added.after.push_back(ids.at(before));
      ids.push_back(result.add_task(id, std::move(added)));
    }
  }
  add_releases(result, resources.release_costs(system));
  return result;
}

}  // namespace millrace::deployment
