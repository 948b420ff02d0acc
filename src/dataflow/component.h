#pragma once
// Strongly connected components. Without bounds on what lies between them, each runs at a pace of
// its own, and the graph at that of the slowest.
#include <vector>

#include "dataflow/graph.h"

namespace millrace::dataflow {

/// Actors that all depend on each other, and the channels between them.
struct Component {
  std::vector<std::size_t> actors;    // ascending
  std::vector<std::size_t> channels;  // both ends inside
  std::vector<std::int64_t> cycles;   // per actor: full cycles in one round
  std::int64_t rounds = 1;            // per iteration of the graph
};

/// `cycles`: the graph's repetition vector. Channels that never carry a token are left out.
std::vector<Component> components(const Graph& graph, const std::vector<std::int64_t>& cycles);

/// Full cycles times phases.
std::int64_t firings_per_round(const Graph& graph, const Component& component, std::size_t at);

/// Whether firings of this actor may end in another order than they begin.
bool may_overtake(const Actor& actor);

}  // namespace millrace::dataflow
