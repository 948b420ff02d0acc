#pragma once
// Task graphs by chance, as SDF3 makes them: section 5.5.4 of J. Kim's thesis.
#include <cstdint>
#include <string>
#include <vector>

#include "system/task_graph.h"

namespace millrace::system {

/// From the least to the most, both included.
struct TimeRange {
  Time least{}, most{};
};

/// Processors of one kind, and how long tasks take on them.
struct RandomTimes {
  std::string processor;
  TimeRange worst;
};

struct RandomGraph {
  std::size_t tasks = 10;
  std::int64_t most_rate = 1;   // tokens that a firing produces or consumes
  std::size_t most_inputs = 2;  // edges into a task
  double share_of_tokens = 0;   // of the edges, that lead back with tokens on them
  std::vector<RandomTimes> times;
  /// So many of the tasks, chosen by chance, run on the last of `times` only.
  double share_of_last_only = 0.5;
  double average = 1 / 1.2, best = 2 / 3.0;  // as shares of the worst time
  std::uint64_t seed = 1;
};

/// Connected, consistent and live. Firings are chosen first, from 1 to `most_rate`, and each edge
/// gets the rates that balance them.
TaskGraph random_graph(const RandomGraph& options);

}  // namespace millrace::system
