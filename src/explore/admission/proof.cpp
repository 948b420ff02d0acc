#include "explore/admission/proof.h"

#include <algorithm>
#include <cmath>

#include "explore/admission/occupancy.h"

namespace millrace::explore {
namespace {

using Wide = __int128;

class ProofReplay {
 public:
  ProofReplay(const AdmissionProof& proof, const AdmissionClaim& claim,
              std::chrono::steady_clock::time_point until)
      : proof_(proof), claim_(claim), until_(until), occupancy_(claim.problem, claim.options) {}

  bool run() { return !proof_.steps.empty() && holds() && next_ == proof_.steps.size(); }

 private:
  bool holds() {
    if (next_ >= proof_.steps.size() || std::chrono::steady_clock::now() > until_) return false;
    const ProofStep& step = proof_.steps[next_++];
    if (step.task == ProofStep::closed) return is_closed(step.reason);
    if (step.task == ProofStep::complete) return is_not_better();
    return branches_hold(static_cast<std::size_t>(step.task));
  }

  bool is_not_better() const {
    const AdmissionChoice& choice = occupancy_.choice();
    if (std::ranges::find(choice, Occupancy::nowhere) != choice.end()) return false;
    if (!late_way(claim_.problem, choice).empty()) return true;
    return claim_.options.goal != AdmissionGoal::any &&
           cost_of(claim_.problem, claim_.options, choice) >= claim_.least;
  }

  bool branches_hold(std::size_t task) {
    if (task >= claim_.problem.tasks.size() || occupancy_.is_placed(task)) return false;
    std::vector<const PlaceOption*> open;
    for (const PlaceOption& option : occupancy_.options(task))
      if (occupancy_.may_have(task, option)) open.push_back(&option);
    while (!open.empty()) {
      if (next_ >= proof_.steps.size()) return false;
      const std::int32_t processor = proof_.steps[next_].processor;
      const auto found = std::ranges::find_if(open, [&](const PlaceOption* option) {
        return std::cmp_equal(option->processor, processor);
      });
      if (found == open.end()) return false;
      const PlaceOption& option = **found;
      open.erase(found);
      occupancy_.put(task, option);
      const bool good = holds();
      occupancy_.take(task, option);
      if (!good) return false;
    }
    return true;
  }

  bool is_closed(std::int32_t reason) const {
    if (reason < 0 || std::cmp_greater_equal(reason, proof_.multipliers.size())) return false;
    const std::vector<double>& multipliers = proof_.multipliers[static_cast<std::size_t>(reason)];
    if (multipliers.size() != claim_.problem.units.size()) return false;
    if (std::ranges::any_of(multipliers, [](double each) { return !(each >= 0); })) return false;
    return is_sum(claim_.options.goal) ? costs_enough(multipliers) : needs_too_much(multipliers);
  }

  /// The sum of what the tasks without a processor need at least; nothing if one of them may have
  /// none, and so closes the step by itself.
  template <class Number, class Need>
  std::optional<Number> least_needs(const Need& need) const {
    Number sum = 0;
    for (std::size_t t = 0; t < claim_.problem.tasks.size(); ++t) {
      if (occupancy_.is_placed(t)) continue;
      std::optional<Number> least;
      for (const PlaceOption& option : occupancy_.options(t))
        if (occupancy_.may_have(t, option)) {
          const Number needed = need(option);
          least = least ? std::min(*least, needed) : needed;
        }
      if (!least) return std::nullopt;
      sum += *least;
    }
    return sum;
  }

  bool needs_too_much(const std::vector<double>& multipliers) const {
    const bool largest = claim_.options.goal == AdmissionGoal::largest_load;
    const auto limit = largest
                           ? static_cast<UnitParts>(claim_.least * static_cast<double>(whole_unit))
                           : whole_unit;
    const auto times = [&](std::size_t unit) { return static_cast<Wide>(multipliers[unit]); };
    Wide left = 0;
    for (std::size_t u = 0; u < multipliers.size(); ++u) {
      if (multipliers[u] != std::floor(multipliers[u])) return false;
      left += times(u) * (limit - occupancy_.load(u));
    }
    const auto needs = least_needs<Wide>([&](const PlaceOption& option) {
      Wide sum = 0;
      for (const PlaceOption::Use& use : option.uses) sum += times(use.unit) * use.parts;
      return sum;
    });
    return !needs || *needs > left;
  }

  bool costs_enough(const std::vector<double>& multipliers) const {
    long double bound = occupancy_.cost();
    for (std::size_t u = 0; u < multipliers.size(); ++u)
      bound -= static_cast<long double>(multipliers[u]) *
               static_cast<long double>(whole_unit - occupancy_.load(u)) /
               static_cast<long double>(whole_unit);
    const auto costs = least_needs<long double>([&](const PlaceOption& option) {
      long double sum = option.cost;
      for (const PlaceOption::Use& use : option.uses)
        sum += static_cast<long double>(multipliers[use.unit]) * use.share;
      return sum;
    });
    return !costs || bound + *costs >= claim_.least;
  }

  const AdmissionProof& proof_;
  const AdmissionClaim& claim_;
  const std::chrono::steady_clock::time_point until_;
  Occupancy occupancy_;
  std::size_t next_ = 0;
};

}  // namespace

bool replay(const AdmissionProof& proof, const AdmissionClaim& claim,
            std::chrono::steady_clock::time_point until) {
  return ProofReplay(proof, claim, until).run();
}

}  // namespace millrace::explore
