#include "realtime/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace millrace::realtime {
namespace {

void find_flows(const TaskSystem& system, Structure& found) {
  found.flow_of.resize(system.tasks.size());
  for (std::size_t f = 0; f < system.flows.size(); ++f)
    for (TaskId task : system.flows[f].tasks) found.flow_of[task.index] = FlowId(f);
  for (const Task& task : system.tasks)
    if (!found.flow_of[static_cast<std::size_t>(&task - system.tasks.data())].valid())
      throw InputError(fmt::format("task '{}'", task.name), "it is in no flow");
}

void find_successors(const TaskSystem& system, Structure& found) {
  found.successors.resize(system.tasks.size());
  for (std::size_t t = 0; t < system.tasks.size(); ++t)
    for (TaskId first : system.tasks[t].after) {
      if (first.index >= system.tasks.size() || found.flow_of[first.index] != found.flow_of[t])
        throw InputError(fmt::format("task '{}'", system.tasks[t].name),
                         "it waits for a task that is not in its flow");
      found.successors[first.index].push_back(TaskId(t));
    }
}

std::vector<TaskId> order_of(const TaskSystem& system, const Flow& flow, const Structure& found) {
  std::vector<std::size_t> open(system.tasks.size(), 0);
  std::vector<TaskId> order;
  for (TaskId task : flow.tasks)
    if ((open[task.index] = system[task].after.size()) == 0) order.push_back(task);
  for (std::size_t next = 0; next < order.size(); ++next)
    for (TaskId later : found.successors[order[next].index])
      if (--open[later.index] == 0) order.push_back(later);
  if (order.size() != flow.tasks.size())
    throw InputError(fmt::format("flow '{}'", flow.name),
                     "its tasks wait for each other in a "
                     "circle");
  return order;
}

void find_before(const TaskSystem& system, const std::vector<TaskId>& order, Structure& found) {
  for (TaskId task : order) {
    std::vector<TaskId>& before = found.before[task.index];
    for (TaskId first : system[task].after) {
      before.push_back(first);
      const auto& earlier = found.before[first.index];
      before.insert(before.end(), earlier.begin(), earlier.end());
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
  }
}

}  // namespace

bool Structure::is_before(TaskId first, TaskId task) const {
  const auto& tasks = before[task.index];
  return std::binary_search(tasks.begin(), tasks.end(), first);
}

Structure structure_of(const TaskSystem& system) {
  Structure found;
  find_flows(system, found);
  find_successors(system, found);
  found.before.resize(system.tasks.size());
  for (const Flow& flow : system.flows) {
    found.order.push_back(order_of(system, flow, found));
    find_before(system, found.order.back(), found);
  }
  found.on.resize(system.resources.size());
  for (std::size_t t = 0; t < system.tasks.size(); ++t)
    found.on[system.tasks[t].resource.index].push_back(TaskId(t));
  return found;
}

}  // namespace millrace::realtime
