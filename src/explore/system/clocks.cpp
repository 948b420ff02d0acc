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
    if (is_known_bad(clocks)) return false;
    ++checks_;
    const bool good = problem_.is_schedulable(clocks);
    (good ? good_ : bad_).push_back(clocks);
    return good;
  }
  bool is_known_bad(const ClockLevels& clocks) const {
    return std::ranges::any_of(bad_, [&](const auto& other) { return is_at_most(clocks, other); });
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

struct CheaperClocks {
  double cost = 0;
  ClockLevels clocks;
};

/// The costliest first.
std::vector<CheaperClocks> cheaper_than(const ClockProblem& problem, const KnownAnswers& known,
                                        double most) {
  std::vector<CheaperClocks> cheaper;
  ClockLevels clocks(problem.costs.size(), 0);
  do {
    const double cost = cost_of(problem, clocks);
    if (cost < most && !known.is_known_bad(clocks)) cheaper.push_back({cost, clocks});
  } while (advance(problem, clocks));
  std::ranges::sort(cheaper, std::greater{}, &CheaperClocks::cost);
  return cheaper;
}

/// What the greedy rounds passed over. The costliest of what is cheaper has the highest clocks: if
/// it misses a deadline, much else does too.
void improve(const ClockProblem& problem, KnownAnswers& known, ClockResult& best) {
  const std::vector<std::size_t> order = order_of(problem);
  for (const CheaperClocks& each : cheaper_than(problem, known, best.cost)) {
    if (each.cost >= best.cost || !known.is_schedulable(each.clocks)) continue;
    ClockLevels clocks = each.clocks;
    keep_if_cheaper(problem, clocks, best);
    for (const std::size_t device : order) slow_down(known, clocks, device);
    keep_if_cheaper(problem, clocks, best);
  }
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
