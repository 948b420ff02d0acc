#include "system/check_edges.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"

namespace millrace::system {
namespace {

bool has_edge(const System& system, GroupId from, GroupId to) {
  return std::ranges::any_of(
      system.edges, [&](const GroupEdge& edge) { return edge.from == from && edge.to == to; });
}

void check_edge(const System& system, const GroupEdge& edge) {
  const Group &from = system[edge.from], &to = system[edge.to];
  const auto fail = [&](const std::string& text) { throw InputError(edge.place, text); };
  if (edge.from == edge.to)
    fail(fmt::format("is from group '{}' to itself, expected another one", from.name));
  if (!from.has_network() || !from.graph.tasks.empty())
    fail(fmt::format(
        "group '{}' has {}, so no output to read; expected a group with a 'model' or an "
        "'application' alone",
        from.name, from.has_network() ? "tasks beside its network" : "no network"));
  if (to.model.file.empty() || !to.graph.tasks.empty())
    fail(fmt::format(
        "group '{}' has {}, so no input that an edge could fill; expected a group with a "
        "'model' alone",
        to.name,
        !to.application.empty() ? "an application, which reads its own pictures" : "tasks"));
  if (edge.read != EdgeRead::queue) return;
  for (const Group* group : {&from, &to})
    if (!group->events.is_periodic())
      fail(fmt::format("group '{}' is not periodic, so values may pile up in a queue; read the "
                       "'last' value",
                       group->name));
  for (const Group* group : {&from, &to})
    if (group->budget)
      fail(fmt::format("group '{}' has a budget, so values may pile up in a queue; read the 'last' "
                       "value, or leave the budget out",
                       group->name));
  for (std::int64_t level = 0; level < system.levels; ++level)
    if (period_of(system, edge.to, level) > period_of(system, edge.from, level))
      fail(fmt::format(
          "group '{}' is slower than '{}', so its queue would overflow; read the 'last' "
          "value, or give it the same rate",
          to.name, from.name));
}

void check_chain(const System& system, const Chain& chain) {
  if (chain.groups.size() < 2)
    throw InputError(chain.place, fmt::format("chain '{}' has {} groups, expected two at least",
                                              chain.name, chain.groups.size()));
  for (std::size_t i = 1; i < chain.groups.size(); ++i)
    if (!has_edge(system, chain.groups[i - 1], chain.groups[i]))
      throw InputError(
          chain.place,
          fmt::format("chain '{}' goes from '{}' to '{}', between which there is no "
                      "edge; add one to 'edges'",
                      chain.name, system[chain.groups[i - 1]].name, system[chain.groups[i]].name));
  for (const auto& [name, limit] :
       {std::pair("reaction_ms", chain.reaction), std::pair("age_ms", chain.age)})
    if (limit && *limit <= Time{})
      throw InputError(chain.place, fmt::format("'{}' is not above 0", name));
}

}  // namespace

void check_edges(const System& system) {
  std::set<std::pair<std::size_t, std::string>> inputs;
  for (const GroupEdge& edge : system.edges) {
    check_edge(system, edge);
    if (!inputs.emplace(edge.to.index, edge.input).second)
      throw InputError(edge.place,
                       fmt::format("found a second edge into {} of group '{}'; give one",
                                   edge.input.empty() ? "the input" : "input '" + edge.input + "'",
                                   system[edge.to].name));
  }
  std::set<std::string> names;
  for (const Chain& chain : system.chains) {
    check_chain(system, chain);
    if (!names.insert(chain.name).second)
      throw InputError(chain.place,
                       fmt::format("found a second chain '{}'; give it another name", chain.name));
  }
}

}  // namespace millrace::system
