#pragma once
// Actors that share processors: the order in which each processor fires them, and what is possible
// with it.
#include <string>
#include <vector>

#include "dataflow/graph.h"

namespace millrace::dataflow {

/// One entry per firing, phases in their order; repeated for ever. Holds each of its actors for
/// the same number of iterations.
struct StaticOrder {
  std::string processor;
  std::vector<ActorId> firings;
};

/// "NAME=a,2*b": the processor's name, then its firings. InputError at `place` if it does not read
/// so, or names an actor that is not there.
StaticOrder parse_order(const Graph& graph, const std::string& text, const std::string& place);

/// The graph in which each processor fires what it has in its order, one after the other: its
/// liveness, throughput and critical cycle are those of the schedule. Actors that are in no order
/// stay as they are; those that are in one have a phase for each of its entries, so that an order
/// of several iterations makes one iteration of the result. InputError naming processor and actor
/// if an order cannot be repeated. Precondition: consistent.
Graph with_static_orders(const Graph& graph, const std::vector<StaticOrder>& orders);

struct Binding {
  std::string processor;
  std::vector<ActorId> actors;
};

/// An order of one iteration for each processor: whoever has been ready for longest goes first.
/// Precondition: consistent and live. InputError if two processors have the same actor.
std::vector<StaticOrder> static_orders(const Graph& graph, const std::vector<Binding>& bindings);

}  // namespace millrace::dataflow
