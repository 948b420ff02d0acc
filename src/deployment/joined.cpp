#include "deployment/joined.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace millrace::deployment {
namespace {

void check_fit(const Deployment& running, const Deployment& added) {
  const std::string& file = added.system.file;
  if (running.board_hash != added.board_hash)
    throw InputError(file, fmt::format("it was made for the board '{}', not for '{}', which runs",
                                       added.board_name, running.board_name));
  for (const system::Group& group : added.system.groups)
    if (std::ranges::find(running.system.groups, group.name, &system::Group::name) !=
        running.system.groups.end())
      throw InputError(file, fmt::format("a group '{}' runs already; give the new one another name",
                                         group.name));
}

/// By how much the priorities of `added` change, so that the highest is below all that run.
std::int64_t priority_change(const Deployment& running, const Deployment& added) {
  if (running.assignments.empty() || added.assignments.empty()) return 0;
  const auto of = &Assignment::priority;
  return std::ranges::min(running.assignments, {}, of).priority - 1 -
         std::ranges::max(added.assignments, {}, of).priority;
}

}  // namespace

Deployment joined(const Deployment& running, const Deployment& added) {
  check_fit(running, added);
  Deployment result = running;
  system::System& system = result.system;
  const std::size_t before = system.groups.size();
  const auto& groups = added.system.groups;
  system.groups.insert(system.groups.end(), groups.begin(), groups.end());
  for (system::Scenario& scenario : system.scenarios)
    for (std::size_t g = 0; g < groups.size(); ++g) scenario.groups.emplace_back(before + g);
  system.overhead = std::max(system.overhead, added.system.overhead);
  system.release_cost = std::max(system.release_cost, added.system.release_cost);
  for (system::GroupEdge edge : added.system.edges) {
    edge.from.index += before;
    edge.to.index += before;
    system.edges.push_back(std::move(edge));
  }
  const std::int64_t change = priority_change(running, added);
  for (const Assignment& assignment : added.assignments) {
    result.assignments.push_back(assignment);
    result.assignments.back().priority += change;
  }
  for (Setting& setting : result.settings) {
    setting.bounds.clear();
    setting.power_mw = 0;
  }
  return result;
}

}  // namespace millrace::deployment
