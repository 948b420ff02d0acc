#pragma once
// From a mapping to a plan: a list of steps, each a function from plan to plan.
#include <string>

#include "plan/plan.h"

namespace millrace::plan {

struct BuildOptions {
  std::string engine = "onednn";
  std::int64_t capacity = 2;  // frames per channel between stages
};

/// Step 3 of the papers (Algorithm 2) with the phase rule of docs/decisions.md: layers are visited
/// in topological order, per processor; a new phase begins at a layer one of whose inputs comes
/// from another processor and transitively depends on the phase that is open. The result has
/// passed check(). Precondition: one processor per layer.
Plan build(const network::Network& network, const board::Board& board, const Mapping& mapping,
           const BuildOptions& options = {});

/// The plan as a CSDF graph: stages are actors, phases their phases, channels bounded by their
/// capacity. Times are the phases' (from `phase_times`, by stage and phase) or zero. With
/// `tokens_are_elements`, rates are numbers of tensor elements as in the papers' equations; else
/// frames.
struct GraphOptions {
  std::vector<std::vector<Time>> phase_times;
  bool tokens_are_elements = false;
};
dataflow::Graph csdf_graph(const Plan& plan, const network::Network& network,
                           const GraphOptions& options = {});

/// Step 1 of the papers (Algorithm 1): one actor per layer, one channel per edge, one token per
/// element.
dataflow::Graph sdf_graph(const network::Network& network);

/// The rules every plan obeys: each layer exactly once, phases in an order that respects the edges,
/// a channel for every edge that crosses phases, graph consistent and live. InputError names the
/// stage, phase or layer.
void check(const Plan& plan, const network::Network& network);

}  // namespace millrace::plan
