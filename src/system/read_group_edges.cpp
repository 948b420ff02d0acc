#include "system/read_group_edges.h"

#include <array>
#include <cmath>
#include <string_view>

namespace millrace::system {
namespace {

constexpr std::array<std::string_view, 6> group_edge_keys{"from",  "to",   "output",
                                                          "input", "read", "capacity"};
constexpr std::array<std::string_view, 4> chain_keys{"name", "groups", "reaction_ms", "age_ms"};
constexpr std::array<std::string_view, 2> reads{"last", "queue"};
constexpr std::int64_t most_values = 1'000;

GroupId group_of(const System& system, const board::Names& names, const YamlView& view) {
  const std::string name = names.refer(view);
  for (std::size_t g = 0; g < system.groups.size(); ++g)
    if (system.groups[g].name == name) return GroupId(g);
  view.fail("'" + name + "' is no group");
}

GroupEdge read_edge(const YamlView& view, const board::Names& names, const System& system) {
  view.only(group_edge_keys);
  GroupEdge edge;
  edge.place = view.place();
  edge.from = group_of(system, names, view.at("from"));
  edge.to = group_of(system, names, view.at("to"));
  if (view.has("output")) edge.output = view.at("output").text();
  if (view.has("input")) edge.input = view.at("input").text();
  if (view.has("read")) edge.read = static_cast<EdgeRead>(board::read_word(view.at("read"), reads));
  if (!view.has("capacity")) return edge;
  if (edge.read != EdgeRead::queue)
    view.at("capacity").fail("is of a queue; add 'read: queue', or leave it out");
  edge.capacity = board::read_count(view.at("capacity"), 1, most_values);
  return edge;
}

std::optional<Time> read_limit(const YamlView& view, const char* key) {
  constexpr board::Bounds of_limits{0, 1e9, true};
  if (!view.has(key)) return std::nullopt;
  return Time(std::llround(board::read_number(view.at(key), of_limits) * 1e6));
}

Chain read_chain(const YamlView& view, const board::Names& names, const System& system) {
  view.only(chain_keys);
  Chain chain;
  chain.place = view.place();
  chain.name = view.at("name").text();
  for (const YamlView& group : view.at("groups").items())
    chain.groups.push_back(group_of(system, names, group));
  chain.reaction = read_limit(view, "reaction_ms");
  chain.age = read_limit(view, "age_ms");
  return chain;
}

}  // namespace

void read_group_edges(const YamlView& root, const board::Names& groups, System& system) {
  if (root.has("edges"))
    for (const YamlView& view : root.at("edges").items())
      system.edges.push_back(read_edge(view, groups, system));
  if (root.has("chains"))
    for (const YamlView& view : root.at("chains").items())
      system.chains.push_back(read_chain(view, groups, system));
}

}  // namespace millrace::system
