#pragma once
// How much space channels need: for no deadlock, for a wanted throughput, and everything between
// (Stuijk, Geilen, Basten 2008).
#include <chrono>
#include <optional>
#include <vector>

#include "dataflow/analysis.h"

namespace millrace::dataflow {

/// Space per channel in tokens; 0 for channels from an actor to itself, which need no bound.
using Capacities = std::vector<std::int64_t>;

/// The graph with the space of its channels; see bound_channel.
Graph with_capacities(const Graph& graph, const Capacities& capacities);

/// Each channel rounded up to whole bytes. Nothing if the size of some channel's token is not
/// known.
std::optional<Bytes> total_bytes(const Graph& graph, const Capacities& capacities);

struct Sizing {
  Capacities capacities;
  Fraction period;         // time of an iteration with them
  std::int64_t total = 0;  // tokens, weighted where the options say so
  std::int64_t bound =
      0;  // no smaller total has this throughput; equal to `total`: proven smallest

  bool is_smallest() const { return total == bound; }
};

/// Channels that share one memory: they have one capacity, which counts once.
struct Pool {
  std::vector<ChannelId>
      channels;             // also from an actor to itself; with initial tokens of their own
  std::int64_t least = 0;   // no smaller capacity is looked at
  std::int64_t weight = 1;  // of a token's space in the total, such as its bytes
};

/// What counts, and when to stop looking for something smaller.
struct SizingOptions {
  std::int64_t max_tries = 1'000'000;  // capacities whose throughput is calculated
  std::chrono::duration<double> max_time{60};
  std::vector<Pool> pools = {};  // channels in none have a capacity each, of weight 1
};

/// The smallest total that has at most this period, or that is live if none is given. Nothing if
/// there is none: the graph is dead, or slower without bounds, or none was found before the stop.
std::optional<Sizing> smallest_buffers(const Graph& graph, std::optional<Fraction> period,
                                       const SizingOptions& options = {});

/// Each total at which a higher throughput becomes possible.
struct ParetoFront {
  std::vector<Sizing> points;  // ascending; each proven smallest
  bool complete = false;       // up to the graph's largest throughput
  std::int64_t explored = 0;   // below this total there are no other points
};
/// Precondition: consistent. Without points if the graph is dead. Of an unlimited graph, whose
/// throughput grows with its buffers for ever, the front is never complete.
ParetoFront pareto_front(const Graph& graph, const SizingOptions& options = {});

}  // namespace millrace::dataflow
