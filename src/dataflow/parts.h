#pragma once
// The connected parts of a graph: what does not touch has rates and times of its own.
#include <vector>

#include "dataflow/graph.h"

namespace millrace::dataflow {

/// Channels at each actor, by actor: those it writes to and those it reads from. Channels that
/// never carry a token are left out.
struct Neighbours {
  std::vector<std::vector<std::size_t>> outgoing, incoming;
};
Neighbours neighbours(const Graph& graph);

/// Each part's actors, ascending. Channels connect in both directions.
std::vector<std::vector<std::size_t>> connected_parts(const Graph& graph);

}  // namespace millrace::dataflow
