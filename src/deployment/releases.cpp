#include "deployment/releases.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace millrace::deployment {
namespace {

using realtime::ResourceId;

/// Resources with tasks and a cost of releases.
std::vector<ResourceId> resources_with_releases(const realtime::TaskSystem& tasks,
                                                const std::vector<Time>& costs) {
  std::vector<bool> is_used(tasks.resources.size(), false);
  for (const realtime::Task& task : tasks.tasks) is_used[task.resource.index] = true;
  std::vector<ResourceId> result;
  for (std::size_t r = 0; r < costs.size(); ++r)
    if (is_used[r] && costs[r] > Time{}) result.emplace_back(r);
  return result;
}

/// With primes behind it if people gave a group or a task this name.
template <class Items>
std::string unused_name(const Items& items, std::string name) {
  const auto is_taken = [&] {
    return std::ranges::any_of(items, [&](const auto& item) { return item.name == name; });
  };
  while (is_taken()) name += "'";
  return name;
}

}  // namespace

void add_releases(realtime::TaskSystem& tasks, const std::vector<Time>& costs) {
  const std::vector<ResourceId> resources = resources_with_releases(tasks, costs);
  if (resources.empty()) return;
  const std::int64_t above =
      1 + std::ranges::max(tasks.tasks, {}, &realtime::Task::priority).priority;
  const std::size_t groups = tasks.flows.size();
  for (std::size_t f = 0; f < groups; ++f) {
    realtime::Flow flow;
    flow.name = unused_name(tasks.flows, "release of " + tasks.flows[f].name);
    flow.events = tasks.flows[f].events;
    flow.limit = tasks.flows[f].limit;
    const std::string name = flow.name;
    const realtime::FlowId id = tasks.add_flow(std::move(flow));
    for (const ResourceId resource : resources) {
      realtime::Task task{
          .name = unused_name(tasks.tasks, fmt::format("{} on {}", name, tasks[resource].name)),
          .resource = resource,
          .worst = costs[resource.index]};
      task.priority = above;
      tasks.add_task(id, std::move(task));
    }
  }
}

std::size_t group_flows(const realtime::TaskSystem& tasks) {
  const auto release =
      std::ranges::find_if(tasks.flows, [](const realtime::Flow& flow) { return !flow.deadline; });
  return static_cast<std::size_t>(release - tasks.flows.begin());
}

}  // namespace millrace::deployment
