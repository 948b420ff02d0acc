#pragma once
// The homogeneous graph: a node for every firing of a round (Lee and Messerschmitt 1987).
#include <vector>

#include "dataflow/component.h"
#include "dataflow/cycle_ratio.h"

namespace millrace::dataflow {

struct Expansion {
  std::uint32_t nodes = 0;
  std::vector<std::uint32_t> first;  // per actor of the component: its first node
  std::vector<Wait> waits;
};

/// Waits that follow from others and from the order of an actor's firings are left out.
/// Precondition: the firings of a round fit 32 bits.
Expansion expand(const Graph& graph, const Component& component);

}  // namespace millrace::dataflow
