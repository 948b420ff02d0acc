#pragma once
// The clocks of the devices at which every deadline holds and the least energy is used: Algorithm 6
// of J. Kim's thesis. It knows no tasks: only how much each clock costs, and a question.
#include <cstddef>
#include <functional>
#include <vector>

namespace millrace::explore {

/// By device: which of its clocks, from 0, the lowest.
using ClockLevels = std::vector<std::size_t>;

struct ClockProblem {
  /// [device][clock] the power or energy at that clock; of all devices together, their sum.
  std::vector<std::vector<double>> costs;
  std::vector<std::size_t> order = {};  // in which devices are slowed; empty: as they come
  /// Whether all deadlines hold. A higher clock never makes it false.
  std::function<bool(const ClockLevels&)> is_schedulable = {};
};

struct ClockResult {
  bool schedulable = false;
  ClockLevels clocks = {};
  double cost = 0;
  std::size_t checks = 0;  // of schedulability
};

ClockLevels highest_clocks(const ClockProblem& problem);
double cost_of(const ClockProblem& problem, const ClockLevels& clocks);

/// Algorithm 6 as printed: two rounds; each device in its order from its highest clock down until a
/// deadline is missed.
ClockResult greedy_clocks(const ClockProblem& problem);

/// The same, then all cheaper combinations that are not slower in every device than one that missed
/// a deadline: no combination is cheaper than its answer. Known answers are not asked for again,
/// and each device's lowest clock is found by bisection.
ClockResult search_clocks(const ClockProblem& problem);

/// Each combination.
ClockResult exhaustive_clocks(const ClockProblem& problem);

/// Devices by how much their costs fall from the highest clock to the lowest, the largest first.
std::vector<std::size_t> by_reduction(const std::vector<std::vector<double>>& costs);

}  // namespace millrace::explore
