#include "face/system_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "face/access.h"
#include "face/convert.h"
#include "network/network.h"

namespace millrace::face {
namespace {

/// The model under a name that no other one has; also under the one that plans will have for it.
formats::ModelSource held_model(const Model& model, product::InMemory& memory) {
  const auto& parts = Access::of(model);
  formats::ModelSource source = parts.source;
  for (int n = 2;; ++n) {
    const auto& known = memory.models[source.file];
    if (known == nullptr || network::hash_of(*known) == model.hash()) break;
    source.file = fmt::format("{}-{}", parts.source.file, n);
  }
  memory.models[source.file] = parts.network;
  memory.models[formats::absolute(source).file] = parts.network;
  return source;
}

/// InputError if there is no such group.
system::GroupId group_named(const system::System& system, const std::string& name,
                            const std::string& place) {
  const auto found = std::ranges::find(system.groups, name, &system::Group::name);
  if (found == system.groups.end())
    throw InputError(place, fmt::format("there is no group '{}'", name));
  return system::GroupId(static_cast<std::size_t>(found - system.groups.begin()));
}

void add_edges(const System& from, system::System& system) {
  for (const GroupEdge& edge : from.edges) {
    system::GroupEdge& to = system.edges.emplace_back();
    to.place = fmt::format("the edge from '{}' to '{}'", edge.from, edge.to);
    to.from = group_named(system, edge.from, to.place);
    to.to = group_named(system, edge.to, to.place);
    to.output = edge.output;
    to.input = edge.input;
    if (edge.queue < 0) throw InputError(to.place, "has a queue of less than 0 values");
    if (edge.queue == 0) continue;
    to.read = system::EdgeRead::queue;
    to.capacity = edge.queue;
  }
  for (const Chain& chain : from.chains) {
    system::Chain& to = system.chains.emplace_back();
    to.name = chain.name;
    to.place = fmt::format("chain '{}'", chain.name);
    for (const std::string& group : chain.groups)
      to.groups.push_back(group_named(system, group, to.place));
    to.reaction = chain.reaction;
    to.age = chain.age;
  }
}

}  // namespace

system::System system_of(const System& from, product::InMemory& memory) {
  system::System system;
  system.name = from.name;
  system.file = from.name + ".yaml";
  system::Scenario& all = system.scenarios.emplace_back();
  all.name = "all";
  for (const Group& group : from.groups) {
    system::Group& to = system.groups.emplace_back();
    to.name = group.name;
    to.place = fmt::format("group '{}'", group.name);
    if (group.model.has_value() == !group.application.empty())
      throw InputError(to.place, "has a model and an application, or none; give one of them");
    if (group.model) to.model = held_model(*group.model, memory);
    to.application = group.application;
    to.rates = {group.rate_fps, group.rate_fps};
    to.events = {group.jitter,   group.offset, group.min_distance,
                 group.sporadic, group.burst,  group.burst_distance, group.aperiodic};
    if (group.budget_every && !group.budget)
      throw InputError(to.place, "has a budget_every and no budget; give both, or none");
    if (group.budget) to.budget = system::Budget{*group.budget, group.budget_every};
    to.deadline = group.deadline;
    to.priority = group.priority;
    if (!group.precisions.empty()) to.precisions = precisions_of(group.precisions);
    all.groups.emplace_back(system.groups.size() - 1);
  }
  add_edges(from, system);
  return system;
}

}  // namespace millrace::face
