#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "system/check_edges.h"
#include "system/check_task_graph.h"

namespace millrace::system {
namespace {

constexpr double shares_add_up = 1e-6;
constexpr std::size_t most_groups = 100, most_scenarios = 100;

void check_name(std::set<std::string>& seen, const std::string& name, const std::string& place,
                const char* what) {
  if (name.empty()) throw InputError(place, fmt::format("a {} needs a name", what));
  if (!seen.insert(name).second)
    throw InputError(place,
                     fmt::format("found a second {} '{}'; give it another name", what, name));
}

void check_group(const Group& group) {
  const auto& [least, most] = group.rates;
  if (!(least >= 1e-6) || !(most >= least) || most > 1e6)
    throw InputError(group.place,
                     fmt::format("group '{}' has rates from {} to {} fps, expected them ascending, "
                                 "from 0.000001 to 1000000",
                                 group.name, least, most));
  if (group.deadline && *group.deadline <= Time{})
    throw InputError(group.place,
                     fmt::format("group '{}' has a deadline that is not above 0", group.name));
}

void check_after(const System& system, const Group& group) {
  for (const std::string& name : group.after) {
    const bool is_there = std::ranges::any_of(
        system.groups, [&](const Group& each) { return each.name == name && &each != &group; });
    if (!is_there)
      throw InputError(group.place, fmt::format("group '{}' is after '{}', and there is no other "
                                                "group of this name",
                                                group.name, name));
  }
}

void check_priorities(const System& system, const Scenario& scenario) {
  std::map<std::int64_t, GroupId> seen;
  for (GroupId id : scenario.groups) {
    const Group& group = system[id];
    if (!group.priority) continue;
    const auto [found, is_new] = seen.emplace(*group.priority, id);
    if (!is_new)
      throw InputError(
          group.place,
          fmt::format("groups '{}' and '{}' have priority {} and run together in "
                      "scenario '{}'; give one of them another",
                      system[found->second].name, group.name, *group.priority, scenario.name));
  }
}

void check_shares(const System& system) {
  double sum = 0;
  bool some = false;
  for (const Scenario& scenario : system.scenarios) {
    some |= scenario.share.has_value();
    sum += scenario.share.value_or(0);
    if (scenario.share && !(*scenario.share >= 0 && *scenario.share <= 1))
      throw InputError(scenario.place,
                       fmt::format("found a share of {}, expected 0 to 1", *scenario.share));
  }
  if (some && std::abs(sum - 1) > shares_add_up)
    throw InputError(system.file, fmt::format("the shares of the scenarios add up to {:.6g}, "
                                              "expected 1",
                                              sum));
}

void check_probabilities(const System& system) {
  for (std::size_t s = 0; s < system.scenarios.size(); ++s) {
    double sum = 0;
    bool open = false, some = false;
    std::string place;
    for (const Transition& transition : system.transitions) {
      if (transition.from.index != s) continue;
      if (transition.probability && !(*transition.probability >= 0 && *transition.probability <= 1))
        throw InputError(transition.place, fmt::format("found probability {}, expected 0 to 1",
                                                       *transition.probability));
      open |= !transition.probability;
      some |= transition.probability.has_value();
      sum += transition.probability.value_or(0);
      place = transition.place;
    }
    if (some && (sum > 1 + shares_add_up || (!open && sum < 1 - shares_add_up)))
      throw InputError(place, fmt::format("the probabilities of what follows scenario '{}' add up "
                                          "to {:.6g}, expected 1",
                                          system.scenarios[s].name, sum));
  }
}

void check_reachable(const System& system) {
  if (system.transitions.empty()) return;
  std::vector<bool> reached(system.scenarios.size(), false);
  std::vector<std::size_t> open{0};
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (reached[at]) continue;
    reached[at] = true;
    for (const Transition& transition : system.transitions)
      if (transition.from.index == at) open.push_back(transition.to.index);
  }
  for (std::size_t s = 0; s < reached.size(); ++s)
    if (!reached[s])
      throw InputError(
          system.scenarios[s].place,
          fmt::format("no transitions lead from the first scenario, '{}', to '{}'; add "
                      "one, or leave the scenario out",
                      system.scenarios[0].name, system.scenarios[s].name));
}

}  // namespace

void check(const System& system) {
  if (system.groups.empty())
    throw InputError(system.file, "it has no groups, expected one at least");
  if (system.scenarios.empty())
    throw InputError(system.file, "it has no scenarios, expected one at least");
  if (system.groups.size() > most_groups || system.scenarios.size() > most_scenarios)
    throw InputError(
        system.file,
        fmt::format("found {} groups and {} scenarios, expected at most {} and {}",
                    system.groups.size(), system.scenarios.size(), most_groups, most_scenarios));
  if (system.levels < 1 || system.levels > 1000)
    throw InputError(system.file,
                     fmt::format("found {} levels, expected 1 to 1000", system.levels));
  if (system.overhead < Time{}) throw InputError(system.file, "the overhead is negative");
  if (system.release_cost < Time{})
    throw InputError(system.file, "the cost of a release is negative");
  std::set<std::string> groups, scenarios;
  for (std::size_t g = 0; g < system.groups.size(); ++g) {
    const Group& group = system.groups[g];
    check_name(groups, group.name, group.place, "group");
    check_group(group);
    check_budget(group);
    check_events(group, period_of(system, GroupId(g), system.levels - 1));
    check_after(system, group);
    check_task_graph(system, GroupId(g));
  }
  for (const Scenario& scenario : system.scenarios) {
    check_name(scenarios, scenario.name, scenario.place, "scenario");
    check_priorities(system, scenario);
  }
  check_shares(system);
  check_probabilities(system);
  check_reachable(system);
  check_edges(system);
}

}  // namespace millrace::system
