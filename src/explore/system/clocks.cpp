#include "explore/system/clocks.h"

#include <algorithm>
#include <numeric>

namespace millrace::explore {
namespace {

std::vector<std::size_t> order_of(const ClockProblem& problem) {
  std::vector<std::size_t> order = problem.order;
  if (!order.empty()) return order;
  order.resize(problem.costs.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool is_at_most(const ClockLevels& a, const ClockLevels& b) {
  for (std::size_t d = 0; d < a.size(); ++d)
    if (a[d] > b[d]) return false;
  return true;
}

/// The next combination; false after the last.
bool advance(const ClockProblem& problem, ClockLevels& clocks) {
  for (std::size_t d = 0; d < clocks.size(); ++d) {
    if (++clocks[d] < problem.costs[d].size()) return true;
    clocks[d] = 0;
  }
  return false;
}

void keep_if_cheaper(const ClockProblem& problem, const ClockLevels& clocks, ClockResult& best) {
  const double cost = cost_of(problem, clocks);
  if (best.schedulable && cost >= best.cost) return;
  best.schedulable = true;
  best.clocks = clocks;
  best.cost = cost;
}

/// Asks only what does not follow from earlier answers.
class KnownAnswers {
 public:
  explicit KnownAnswers(const ClockProblem& problem) : problem_(problem) {}

  bool is_schedulable(const ClockLevels& clocks) {
    if (std::ranges::any_of(good_, [&](const auto& other) { return is_at_most(other, clocks); }))
      return true;
    if (std::ranges::any_of(bad_, [&](const auto& other) { return is_at_most(clocks, other); }))
      return false;
    ++checks_;
    const bool good = problem_.is_schedulable(clocks);
    (good ? good_ : bad_).push_back(clocks);
    return good;
  }
  std::size_t checks() const { return checks_; }

 private:
  const ClockProblem& problem_;
  std::vector<ClockLevels> good_, bad_;
  std::size_t checks_ = 0;
};

/// Down to the device's lowest clock at which the deadlines hold. Precondition: they do now.
void slow_down(KnownAnswers& known, ClockLevels& clocks, std::size_t device) {
  std::size_t good = clocks[device], low = 0;
  while (low < good) {
    clocks[device] = (low + good) / 2;
    if (known.is_schedulable(clocks))
      good = clocks[device];
    else
      low = clocks[device] + 1;
  }
  clocks[device] = good;
}

/// Lines 8 to 27 of Algorithm 6: one clock after the other, until a deadline is missed.
void step_down(const ClockProblem& problem, ClockLevels& clocks, std::size_t device,
               ClockResult& best) {
  for (const std::size_t highest = clocks[device];; --clocks[device]) {
    ++best.checks;
    if (!problem.is_schedulable(clocks)) {
      if (clocks[device] < highest) ++clocks[device];
      return;
    }
    keep_if_cheaper(problem, clocks, best);
    if (clocks[device] == 0) return;
  }
}

/// The next combination downwards of all devices but one; false after the last.
bool retreat(const ClockProblem& problem, ClockLevels& clocks, std::size_t but) {
  for (std::size_t d = 0; d < clocks.size(); ++d) {
    if (d == but) continue;
    if (clocks[d]-- > 0) return true;
    clocks[d] = problem.costs[d].size() - 1;
  }
  return false;
}

/// The device's highest clock that makes the combination cheaper than that; none if none does.
bool set_highest_below(const ClockProblem& problem, ClockLevels& clocks, std::size_t device,
                       double most) {
  for (std::size_t level = problem.costs[device].size(); level-- > 0;) {
    clocks[device] = level;
    if (cost_of(problem, clocks) < most) return true;
  }
  return false;
}

/// What the greedy rounds passed over. Of the combinations that differ in one device only, the
/// highest clock that is still cheaper decides: where it misses a deadline, the lower ones do too.
void improve(const ClockProblem& problem, KnownAnswers& known, ClockResult& best) {
  if (problem.costs.empty()) return;
  const std::vector<std::size_t> order = order_of(problem);
  const auto most = std::ranges::max_element(problem.costs, {}, &std::vector<double>::size);
  const auto line = static_cast<std::size_t>(most - problem.costs.begin());
  ClockLevels clocks = highest_clocks(problem);
  do {
    while (set_highest_below(problem, clocks, line, best.cost) && known.is_schedulable(clocks)) {
      keep_if_cheaper(problem, clocks, best);
      ClockLevels slower = clocks;
      for (const std::size_t device : order) slow_down(known, slower, device);
      keep_if_cheaper(problem, slower, best);
    }
  } while (retreat(problem, clocks, line));
}

}  // namespace

ClockLevels highest_clocks(const ClockProblem& problem) {
  ClockLevels clocks;
  for (const auto& costs : problem.costs) clocks.push_back(costs.size() - 1);
  return clocks;
}

double cost_of(const ClockProblem& problem, const ClockLevels& clocks) {
  double sum = 0;
  for (std::size_t d = 0; d < clocks.size(); ++d) sum += problem.costs[d][clocks[d]];
  return sum;
}

ClockResult greedy_clocks(const ClockProblem& problem) {
  ClockResult best;
  ClockLevels clocks = highest_clocks(problem);
  const ClockLevels highest = clocks;
  for (int round = 0; round < 2; ++round)
    for (const std::size_t device : order_of(problem)) {
      clocks[device] = highest[device];
      step_down(problem, clocks, device, best);
    }
  return best;
}

ClockResult search_clocks(const ClockProblem& problem) {
  ClockResult best;
  KnownAnswers known(problem);
  ClockLevels clocks = highest_clocks(problem);
  if (known.is_schedulable(clocks)) {
    const ClockLevels highest = clocks;
    keep_if_cheaper(problem, clocks, best);
    for (int round = 0; round < 2; ++round)
      for (const std::size_t device : order_of(problem)) {
        clocks[device] = highest[device];
        slow_down(known, clocks, device);
        keep_if_cheaper(problem, clocks, best);
      }
    improve(problem, known, best);
  }
  best.checks = known.checks();
  return best;
}

ClockResult exhaustive_clocks(const ClockProblem& problem) {
  ClockResult best;
  ClockLevels clocks(problem.costs.size(), 0);
  do {
    ++best.checks;
    if (problem.is_schedulable(clocks)) keep_if_cheaper(problem, clocks, best);
  } while (advance(problem, clocks));
  return best;
}

std::vector<std::size_t> by_reduction(const std::vector<std::vector<double>>& costs) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t d) { return costs[d].back() - costs[d].front(); });
  return order;
}

}  // namespace millrace::explore
