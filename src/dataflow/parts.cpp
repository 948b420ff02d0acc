#include "dataflow/parts.h"

#include <algorithm>

namespace millrace::dataflow {
namespace {

bool carries_tokens(const Channel& channel) {
  return std::any_of(channel.production.begin(), channel.production.end(),
                     [](std::int64_t rate) { return rate > 0; });
}

}  // namespace

Neighbours neighbours(const Graph& graph) {
  Neighbours result{std::vector<std::vector<std::size_t>>(graph.actors.size()),
                    std::vector<std::vector<std::size_t>>(graph.actors.size())};
  for (std::size_t c = 0; c < graph.channels.size(); ++c) {
    if (!carries_tokens(graph.channels[c])) continue;
    result.outgoing[graph.channels[c].from.index].push_back(c);
    result.incoming[graph.channels[c].to.index].push_back(c);
  }
  return result;
}

std::vector<std::vector<std::size_t>> connected_parts(const Graph& graph) {
  const Neighbours near = neighbours(graph);
  std::vector<bool> seen(graph.actors.size(), false);
  std::vector<std::vector<std::size_t>> parts;
  for (std::size_t root = 0; root < graph.actors.size(); ++root) {
    if (seen[root]) continue;
    std::vector<std::size_t> part{root};
    const auto reach = [&](ActorId actor) {
      if (seen[actor.index]) return;
      seen[actor.index] = true;
      part.push_back(actor.index);
    };
    seen[root] = true;
    for (std::size_t next = 0; next < part.size(); ++next) {
      const std::size_t actor = part[next];
      for (std::size_t c : near.outgoing[actor]) reach(graph.channels[c].to);
      for (std::size_t c : near.incoming[actor]) reach(graph.channels[c].from);
    }
    std::sort(part.begin(), part.end());
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace millrace::dataflow
