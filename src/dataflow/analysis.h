#pragma once
// Questions about a graph that have exact answers.
#include <optional>
#include <string>
#include <vector>

#include "base/verdict.h"
#include "dataflow/graph.h"

namespace millrace::dataflow {

/// Full cycles of each actor per iteration of the graph: the smallest positive integers for which
/// every channel's tokens balance (Bilsen et al. 1996, theorem 1), per connected part.
/// InputError naming the channel if the rates are inconsistent, or if numbers exceed 64 bits.
std::vector<std::int64_t> repetition_vector(const Graph& graph);

/// Whether one iteration can complete from the initial tokens (and so any number of them). The
/// reason names the cycle of actors, phases and channels that wait for each other.
Verdict is_live(const Graph& graph);

/// The periodic regime of the self-timed execution, every actor firing as soon as it can
/// (Ghamarian et al. 2006). Of several connected parts, the slowest. period: time of one iteration.
struct Throughput {
  Time span{};                 // time of `iterations` iterations in the periodic regime
  std::int64_t iterations = 0; // period = span / iterations
  double per_second() const;
};
/// Precondition: consistent, live, bounded. Nothing if no state recurred within `max_firings`.
std::optional<Throughput> throughput(const Graph& graph, std::int64_t max_firings = 50'000'000);

/// Graphviz text: actors with phases and times, channels with rates and tokens.
std::string to_dot(const Graph& graph);

}  // namespace millrace::dataflow
