#pragma once
// Questions about a graph that have exact answers.
#include <optional>
#include <string>
#include <vector>

#include "base/verdict.h"
#include "dataflow/fraction.h"
#include "dataflow/graph.h"

namespace millrace::dataflow {

/// Whether some numbers of cycles balance all channels. The reason names a channel for which they
/// do not. InputError as repetition_vector for graphs that are not well formed.
Verdict is_consistent(const Graph& graph);

/// Full cycles of each actor per iteration of the graph: the smallest positive integers for which
/// every channel's tokens balance (Bilsen et al. 1996, theorem 1), per connected part.
/// InputError naming the channel if the rates are inconsistent, or if numbers exceed 64 bits.
std::vector<std::int64_t> repetition_vector(const Graph& graph);

/// Whether one iteration can complete from the initial tokens (and so any number of them). The
/// reason names the cycle of actors, phases and channels that wait for each other.
Verdict is_live(const Graph& graph);

/// How throughput is found. All give the same fraction.
enum class Method {
  fastest,      // k_periodic, and where K grows large cycle_ratio
  self_timed,   // execute until a state recurs (Ghamarian et al. 2006)
  cycle_ratio,  // policy iteration on the expanded homogeneous graph
  k_periodic,   // K-periodic schedules, K raised on the critical cycle (Bodin et al. 2016)
};

struct ThroughputOptions {
  Method method = Method::fastest;
  std::int64_t max_firings = 50'000'000;  // by self_timed, per component
  std::int64_t max_nodes = 2'000'000;     // of the graphs that the other methods make
};

/// A firing on the critical cycle, and what the next one waits for.
struct CycleStep {
  ActorId actor;
  std::size_t phase = 0;
  ChannelId channel;  // to the next step; none: the order of the actor's own firings
  bool operator==(const CycleStep&) const = default;
};

/// The pace of the fastest schedule, in the long run, if what lies between strongly connected
/// components may grow without bound. Of several components, the slowest counts.
struct Throughput {
  Time span{};                  // time of `iterations` iterations, in lowest terms; 0: unlimited
  std::int64_t iterations = 0;  // 0: the graph deadlocks
  std::vector<CycleStep> critical_cycle;  // what limits it or deadlocks; self_timed has none

  bool is_live() const { return iterations > 0; }
  bool is_unlimited() const { return is_live() && span == Time{0}; }
  /// Time of one iteration. Precondition: live.
  Fraction period() const { return {span.count(), iterations}; }
  double per_second() const;
};
/// Precondition: consistent. Nothing if the options' limits do not suffice.
std::optional<Throughput> throughput(const Graph& graph, const ThroughputOptions& options = {});

/// From the start to the end of the last firing of the first iteration, if all fire as soon as they
/// can. Precondition: consistent and live.
Time latency(const Graph& graph);

/// Firings of two actors that belong together: the n-th of the one and the (n + skip)-th of the
/// other, for the first `count` of them.
struct FiringPairs {
  ActorId first, second;
  std::int64_t skip = 0, count = 1;
};
/// The longest time from the end of a firing to the end of the one that belongs to it, if all fire
/// as soon as they can. Nothing if the graph deadlocks before, or needs more than `max_firings`.
/// Precondition: consistent.
std::optional<Time> longest_delay(const Graph& graph, const FiringPairs& pairs,
                                  std::int64_t max_firings = 50'000'000);

/// Graphviz text: actors with phases and times, channels with rates and tokens.
std::string to_dot(const Graph& graph);

}  // namespace millrace::dataflow
