#include "explore/precision/precision.h"

#include <algorithm>
#include <utility>

namespace millrace::explore {
namespace {

using board::Precision;
using profile::Loss;

/// For ordering: few frames change their answer, so the error of the outputs speaks too.
double weight_of(const Loss& loss) {
  constexpr double useless = 1e6;  // instead of infinity, which cannot be subtracted
  return std::min(loss.changed_share() + loss.mean_error, useless);
}

/// A precision of one layer.
struct State {
  Precision precision;
  double saved_ns = 0, weight = 0;
};

/// From one state of a layer to a slower one.
struct GiveBack {
  LayerId layer;
  State to;
  double time_ns = 0;
  double weight_per_ns = 0;
};

/// Fastest first, the base last.
std::vector<State> states_of(const PrecisionProblem& problem, LayerId layer,
                             const std::vector<LoweringCost>& costs) {
  std::vector<State> states{{problem.base[layer.index], 0, 0}};
  for (const LoweringCost& cost : costs)
    if (cost.lowering.layer == layer)
      states.push_back({cost.lowering.precision, cost.lowering.saved_ns, weight_of(cost.loss)});
  std::stable_sort(states.begin(), states.end(),
                   [](const State& a, const State& b) { return a.saved_ns > b.saved_ns; });
  return states;
}

/// The way back to the base, each step to where a nanosecond wins most (of equals, the farthest),
/// so that no later step wins as much as an earlier one.
void add_way_back(LayerId layer, const std::vector<State>& states, std::vector<GiveBack>& steps) {
  for (std::size_t at = 0; at + 1 < states.size();) {
    GiveBack best;
    std::size_t next = at;
    for (std::size_t i = at + 1; i < states.size(); ++i) {
      const double time = states[at].saved_ns - states[i].saved_ns;
      const double won = (states[at].weight - states[i].weight) / std::max(time, 1.0);
      if (next != at && won < best.weight_per_ns) continue;
      best = {layer, states[i], time, won};
      next = i;
    }
    steps.push_back(best);
    at = next;
  }
}

/// What is given back first stands first; of what wins equally little, the smallest.
std::vector<GiveBack> ways_back(const std::vector<std::vector<State>>& states) {
  std::vector<GiveBack> steps;
  for (std::size_t i = 0; i < states.size(); ++i) add_way_back(LayerId(i), states[i], steps);
  std::stable_sort(steps.begin(), steps.end(), [](const GiveBack& a, const GiveBack& b) {
    if (a.weight_per_ns != b.weight_per_ns) return a.weight_per_ns > b.weight_per_ns;
    return a.time_ns < b.time_ns;
  });
  return steps;
}

class Choosing {
 public:
  Choosing(const PrecisionProblem& problem, double budget, const MeasureLoss& measure)
      : problem_(problem), budget_(budget), measure_(measure) {}

  PrecisionChoice choose() {
    for (const Lowering& lowering : problem_.lowerings) {
      std::vector<Precision> precisions = problem_.base;
      precisions[lowering.layer.index] = lowering.precision;
      choice_.costs.push_back({lowering, loss_of(precisions)});
    }
    for (std::size_t i = 0; i < problem_.base.size(); ++i)
      states_.push_back(states_of(problem_, LayerId(i), choice_.costs));
    steps_ = ways_back(states_);
    if (take(0) || !take(steps_.size())) return choice_;
    std::size_t too_few = 0, enough = steps_.size();
    while (enough - too_few > 1) {
      const std::size_t middle = too_few + (enough - too_few) / 2;
      (take(middle) ? enough : too_few) = middle;
    }
    return choice_;
  }

 private:
  Loss loss_of(const std::vector<Precision>& precisions) {
    ++choice_.measurements;
    return measure_(precisions);
  }

  std::vector<State> after(std::size_t steps_back) const {
    std::vector<State> result;
    for (const std::vector<State>& states : states_) result.push_back(states.front());
    for (std::size_t s = 0; s < steps_back; ++s) {
      State& state = result[steps_[s].layer.index];
      if (steps_[s].to.saved_ns <= state.saved_ns) state = steps_[s].to;
    }
    return result;
  }

  /// Measures what is left after so many steps back; it becomes the choice if it holds, or if
  /// nothing is left to give back.
  bool take(std::size_t steps_back) {
    std::vector<Precision> precisions;
    double saved = 0;
    for (const State& state : after(steps_back)) {
      precisions.push_back(state.precision);
      saved += state.saved_ns;
    }
    const Loss loss = loss_of(precisions);
    constexpr double rounding = 1e-12;
    const bool holds = loss.changed_share() <= budget_ + rounding;
    if (!holds && steps_back < steps_.size()) return false;
    choice_.precisions = std::move(precisions);
    choice_.loss = loss;
    choice_.saved_ns = saved;
    choice_.within_budget = holds;
    return holds;
  }

  const PrecisionProblem& problem_;
  double budget_;
  const MeasureLoss& measure_;
  PrecisionChoice choice_;
  std::vector<std::vector<State>> states_;  // by layer
  std::vector<GiveBack> steps_;
};

}  // namespace

PrecisionChoice choose_precisions(const PrecisionProblem& problem, double budget,
                                  const MeasureLoss& measure) {
  return Choosing(problem, budget, measure).choose();
}

}  // namespace millrace::explore
