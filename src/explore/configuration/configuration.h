#pragma once
// What the search over whole configurations changes, and what it gets for it.
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/verdict.h"
#include "explore/candidates.h"
#include "explore/configuration/mapping_options.h"

namespace millrace::explore {

/// One candidate.
struct Configuration {
  std::vector<ProcessorGroup> stages;
  std::vector<std::size_t> cuts;  // the last layer of each stage but the last; ascending
  std::int64_t slots = 2;         // of a channel between neighbouring stages
  std::vector<std::int64_t> streams = {};  // by stage, on each of its processors; empty: 1 for all
  /// Threads of the application; 0: as many as there are cores.
  std::int64_t pre_threads = 0, post_threads = 0;
  auto operator<=>(const Configuration&) const = default;
};

/// How good it is.
struct Score {
  double throughput = 0;            // frames per second
  std::vector<double> utilisation;  // the busy share of each of the board's processors
  bool operator==(const Score&) const = default;
};

/// Measures, or simulates; in any order, or all at once.
using Objective = std::function<std::vector<Score>(std::span<const Configuration>)>;

/// All that turns configurations into plans. Borrowed.
struct SearchContext {
  const network::Network& network;
  const board::Board& board;
  const Problem& problem;
  const plan::BuildOptions& build;
  bool fallback = true;  // a layer that a stage's processor cannot run goes elsewhere
};

/// Where it can be cut: behind these layers no fused group is separated. Ascending.
std::vector<std::size_t> cut_positions(const Problem& problem);

/// Each layer on the first processor of its stage's group, or, where that cannot run it, on that of
/// its device's fallback, else of the last stage, else the fastest. A whole network on a device
/// with room for a few subnets has its largest there, as many as fit, as NVIDIA's SDK decides too.
plan::Mapping mapping_of(const SearchContext& context, const Configuration& configuration);
/// With those that run the fewest layers first: what these run, all processors of a group run.
ProcessorGroup fewest_layers_first(const Problem& problem, ProcessorGroup group);
/// By LayerId; empty: 1 for all.
std::vector<std::int64_t> layer_streams_of(const SearchContext& context,
                                           const Configuration& configuration);
SearchCase search_case_of(const SearchContext& context, const Configuration& configuration);

/// A configuration's plan with predicted times, if the board can run it.
struct Realised {
  Verdict verdict = Verdict::yes();
  plan::Plan plan = {};
  plan::Evidence evidence = {};
};
Realised realise(const SearchContext& context, const Configuration& configuration);

}  // namespace millrace::explore
