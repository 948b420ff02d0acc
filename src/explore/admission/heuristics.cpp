#include "explore/admission/heuristics.h"

#include <algorithm>
#include <numeric>


namespace millrace::explore {
namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// A choice that grows, with the loads that it makes.
class GrowingChoice {
 public:
  explicit GrowingChoice(const AdmissionProblem& problem)
      : problem_(problem),
        choice_(problem.tasks.size(), nowhere),
        loads_(problem.units.size(), 0),
        users_(problem.processors.size(), 0) {
    for (const AdmissionTask& task : problem.tasks) options_.push_back(options_of(task));
  }

  const std::vector<std::size_t>& options(std::size_t task) const { return options_[task]; }
  std::size_t operator[](std::size_t task) const { return choice_[task]; }
  AdmissionChoice choice() const { return choice_; }

  /// The largest load of the processor's units with the task.
  UnitParts load_with(std::size_t task, std::size_t processor) const {
    UnitParts largest = 0;
    for (const UnitShare& each : shares_of(problem_, task, processor))
      largest = std::max(largest, loads_[each.unit] + rounded_down(each.share));
    return largest;
  }
  bool is_excluded(std::size_t processor) const {
    return std::ranges::any_of(problem_.exclusive, [&](const auto& pair) {
      return (pair.first == processor && users_[pair.second] > 0) ||
             (pair.second == processor && users_[pair.first] > 0);
    });
  }
  bool fits(std::size_t task, std::size_t processor) const {
    return !is_excluded(processor) && load_with(task, processor) <= whole_unit;
  }
  void put(std::size_t task, std::size_t processor) { change(task, processor, 1); }
  void take(std::size_t task) { change(task, choice_[task], -1); }

  /// Where it fits and its units are loaded least then.
  std::size_t best_place(std::size_t task) const {
    std::size_t best = nowhere;
    UnitParts least = 0;
    for (std::size_t processor : options_[task]) {
      if (!fits(task, processor)) continue;
      const UnitParts load = load_with(task, processor) +
                             rounded_down(utilisation(problem_.tasks[task], processor));
      if (best != nowhere && load >= least) continue;
      best = processor;
      least = load;
    }
    return best;
  }

 private:
  void change(std::size_t task, std::size_t processor, int by) {
    for (const UnitShare& each : shares_of(problem_, task, processor))
      loads_[each.unit] += by * rounded_down(each.share);
    users_[processor] += by;
    choice_[task] = by > 0 ? processor : nowhere;
  }

  const AdmissionProblem& problem_;
  AdmissionChoice choice_;
  std::vector<UnitParts> loads_;
  std::vector<int> users_;  // by processor
  std::vector<std::vector<std::size_t>> options_;
};

/// Moves one task that is placed elsewhere, so that this one finds a place.
bool place_by_moving(GrowingChoice& growing, std::size_t task, std::size_t tasks) {
  for (std::size_t other = 0; other < tasks; ++other) {
    const std::size_t before = growing[other];
    if (other == task || before == nowhere) continue;
    growing.take(other);
    for (std::size_t processor : growing.options(task)) {
      if (!growing.fits(task, processor)) continue;
      growing.put(task, processor);
      if (const std::size_t place = growing.best_place(other); place != nowhere) {
        growing.put(other, place);
        return true;
      }
      growing.take(task);
    }
    growing.put(other, before);
  }
  return false;
}

/// By their least utilisation, the largest first.
std::vector<std::size_t> by_size(const AdmissionProblem& problem) {
  std::vector<double> least;
  for (const AdmissionTask& task : problem.tasks) {
    double smallest = 2;
    for (std::size_t p : options_of(task))
      smallest = std::min(smallest, utilisation(task, p).value());
    least.push_back(smallest);
  }
  std::vector<std::size_t> order(problem.tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return least[a] > least[b]; });
  return order;
}

}  // namespace

std::optional<AdmissionChoice> first_fit_decreasing(const AdmissionProblem& problem) {
  GrowingChoice growing(problem);
  for (std::size_t task : by_size(problem)) {
    const std::size_t place = growing.best_place(task);
    if (place != nowhere)
      growing.put(task, place);
    else if (!place_by_moving(growing, task, problem.tasks.size()))
      return std::nullopt;
  }
  AdmissionChoice choice = growing.choice();
  if (!explore::fits(problem, choice)) return std::nullopt;  // its loads are rounded
  return choice;
}

}  // namespace millrace::explore
