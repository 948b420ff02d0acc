#include "explore/admission/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "explore/admission/occupancy.h"

namespace millrace::explore {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();
constexpr int steps_at_root = 300, steps_below = 15;

/// The processors that tasks without one may still have.
struct OpenTask {
  std::size_t task = 0;
  std::vector<const PlaceOption*> options;
};

/// Prices of units, and where the proof has them.
struct UnitPrices {
  std::vector<double> of_unit;
  std::int32_t stored = -1;
};

/// What follows from prices.
struct PricedBound {
  double value = -no_limit;
  std::vector<double> overload;              // by unit, of the cheapest options
  std::vector<const PlaceOption*> cheapest;  // by open task
};

double price_of(const PlaceOption& option, const std::vector<double>& prices) {
  double sum = option.cost;
  for (const PlaceOption::Use& use : option.uses) sum += prices[use.unit] * use.share;
  return sum;
}

class ChoiceBranching {
 public:
  ChoiceBranching(const AdmissionProblem& problem, const AdmissionOptions& options,
                  const SearchLimits& limits)
      : problem_(problem),
        options_(options),
        limits_(limits),
        sum_(is_sum(options.goal)),
        occupancy_(problem, options) {}

  ChoiceSearch run(const std::optional<AdmissionChoice>& known) {
    if (known) keep(*known);
    UnitPrices prices{std::vector<double>(problem_.units.size(), sum_ ? 0 : 1), -1};
    open_bound_ = no_limit;
    visit(-1, prices, -no_limit);
    result_.complete = !stopped_;
    result_.bound = std::min(open_bound_, result_.cost);
    return std::move(result_);
  }

 private:
  bool is_over() const {
    return stopped_ || result_.proof.steps.size() >= limits_.steps ||
           std::chrono::steady_clock::now() > limits_.until;
  }
  void stop_at(double bound) {
    stopped_ = true;
    open_bound_ = std::min(open_bound_, bound);
  }

  /// What is no better than this is left out.
  double target() const {
    return result_.best.empty() ? no_limit : result_.cost - least_difference(result_.cost);
  }
  /// The capacity of a unit, in units.
  double capacity() const {
    return options_.goal == AdmissionGoal::largest_load ? std::min(1.0, target()) : 1;
  }
  UnitParts capacity_parts() const {
    return static_cast<UnitParts>(capacity() * static_cast<double>(whole_unit));
  }

  void keep(const AdmissionChoice& choice) {
    const double cost = cost_of(problem_, options_, choice);
    if (!result_.best.empty() && cost >= result_.cost) return;
    result_.best = choice;
    result_.cost = cost;
    if (options_.goal == AdmissionGoal::any) stop_at(0);
  }

  void visit(std::int32_t processor, UnitPrices& inherited, double bound) {
    const std::size_t at = result_.proof.steps.size();
    result_.proof.steps.push_back({processor, ProofStep::closed, 0});
    if (is_over()) return stop_at(bound);
    const std::vector<OpenTask> open = open_tasks();
    if (open.empty()) {
      result_.proof.steps[at].task = ProofStep::complete;
      if (late_way(problem_, occupancy_.choice()).empty()) keep(occupancy_.choice());
      return;
    }
    if (open.front().options.empty()) {
      result_.proof.steps[at].task = static_cast<std::int32_t>(open.front().task);
      return;
    }
    UnitPrices prices{inherited.of_unit, -1};
    const PricedBound first = bound_at(open, inherited.of_unit);
    if (at == 0) result_.relaxed = std::max(0.0, cost_bound(first));
    if (is_closed(open, first, inherited)) {
      result_.proof.steps[at].reason = inherited.stored;
      return;
    }
    const PricedBound best = raise(open, prices, at == 0 ? steps_at_root : steps_below);
    if (at == 0) result_.relaxed = std::max(result_.relaxed, cost_bound(best));
    if (is_closed(open, best, prices)) {
      result_.proof.steps[at].reason = prices.stored;
      return;
    }
    branch(at, open.front(), prices, std::max(bound, cost_bound(best)));
  }

  void branch(std::size_t at, const OpenTask& open, UnitPrices& prices, double bound) {
    result_.proof.steps[at].task = static_cast<std::int32_t>(open.task);
    std::vector<std::pair<double, const PlaceOption*>> order;
    for (const PlaceOption* option : open.options)
      order.emplace_back(price_of(*option, prices.of_unit), option);
    std::ranges::stable_sort(order, {}, &std::pair<double, const PlaceOption*>::first);
    for (const auto& [price, option] : order) {
      if (is_over()) return stop_at(bound);
      occupancy_.put(open.task, *option);
      visit(static_cast<std::int32_t>(option->processor), prices, bound);
      occupancy_.take(open.task, *option);
    }
  }

  /// Open tasks, with the one with the fewest options first, of these the one that needs most.
  std::vector<OpenTask> open_tasks() const {
    std::vector<OpenTask> open;
    for (std::size_t t = 0; t < problem_.tasks.size(); ++t) {
      if (occupancy_.is_placed(t)) continue;
      OpenTask& task = open.emplace_back(OpenTask{t, {}});
      for (const PlaceOption& option : occupancy_.options(t))
        if (occupancy_.may_have(t, option)) task.options.push_back(&option);
    }
    const auto first = std::ranges::min_element(open, {}, [](const OpenTask& task) {
      double least = no_limit;
      for (const PlaceOption* option : task.options)
        least = std::min(least, option->uses.front().share);
      return std::pair(task.options.size(), -least);
    });
    if (first != open.end()) std::iter_swap(open.begin(), first);
    return open;
  }

  PricedBound bound_at(const std::vector<OpenTask>& open, const std::vector<double>& prices) const {
    PricedBound bound{sum_ ? occupancy_.cost() : 0, {}, {}};
    for (std::size_t u = 0; u < prices.size(); ++u) {
      const double load = static_cast<double>(occupancy_.load(u)) / static_cast<double>(whole_unit);
      bound.overload.push_back(load - capacity());
      bound.value += prices[u] * bound.overload.back();
    }
    for (const OpenTask& task : open) {
      const PlaceOption* cheapest = nullptr;
      double least = no_limit;
      for (const PlaceOption* option : task.options)
        if (const double price = price_of(*option, prices); price < least) {
          least = price;
          cheapest = option;
        }
      bound.value += least;
      bound.cheapest.push_back(cheapest);
      for (const PlaceOption::Use& use : cheapest->uses) bound.overload[use.unit] += use.share;
    }
    return bound;
  }

  /// A bound of the goal's cost.
  double cost_bound(const PricedBound& bound) const {
    if (sum_) return bound.value;
    return options_.goal == AdmissionGoal::largest_load ? bound.value + capacity() : 0;
  }

  /// Prices along the overload, in Polyak's steps, towards what closes the step.
  PricedBound raise(const std::vector<OpenTask>& open, UnitPrices& prices, int steps) {
    constexpr double beyond = 0.02;  // more overload than this need not be shown
    std::vector<double> now = prices.of_unit;
    PricedBound best;
    double length = 1;
    int without_gain = 0;
    for (int step = 0; step < steps; ++step) {
      if (!sum_) normalise(now);
      const PricedBound bound = bound_at(open, now);
      if (bound.value > best.value) {
        best = bound;
        prices.of_unit = now;
        without_gain = 0;
      } else if (++without_gain == 4) {
        without_gain = 0;
        length /= 2;
      }
      try_cheapest(open, bound);
      const double aim = sum_ ? result_.cost : beyond;
      if (stopped_ || best.value > (sum_ ? target() : 1e-9)) break;
      double square = 0;
      for (const double each : bound.overload) square += each * each;
      if (square == 0) break;
      const double by = length * (aim - bound.value) / square;
      for (std::size_t u = 0; u < now.size(); ++u)
        now[u] = std::max(0.0, now[u] + by * bound.overload[u]);
    }
    return best;
  }

  static void normalise(std::vector<double>& prices) {
    double sum = 0;
    for (const double price : prices) sum += price;
    for (double& price : prices)
      price = sum > 0 ? price / sum : 1 / static_cast<double>(prices.size());
  }

  /// Cheapest options that load no unit too much are a choice.
  void try_cheapest(const std::vector<OpenTask>& open, const PricedBound& bound) {
    constexpr double rounding = 1e-12;
    if (std::ranges::any_of(bound.overload, [](double each) { return each > rounding; })) return;
    AdmissionChoice choice = occupancy_.choice();
    for (std::size_t i = 0; i < open.size(); ++i)
      choice[open[i].task] = bound.cheapest[i]->processor;
    if (fits(problem_, choice)) keep(choice);
  }

  /// If so, the proof has the prices.
  bool is_closed(const std::vector<OpenTask>& open, const PricedBound& bound, UnitPrices& prices) {
    if (sum_) {
      if (!(bound.value >= target())) return false;
      if (prices.stored < 0) store(prices, prices.of_unit);
      return true;
    }
    if (!(bound.value > 0)) return false;
    const std::vector<double> whole = whole_prices(prices.of_unit);
    if (!needs_too_much(open, whole)) return false;
    if (prices.stored < 0) store(prices, whole);
    return true;
  }

  void store(UnitPrices& prices, const std::vector<double>& as) {
    prices.stored = static_cast<std::int32_t>(result_.proof.multipliers.size());
    result_.proof.multipliers.push_back(as);
  }

  static std::vector<double> whole_prices(const std::vector<double>& prices) {
    constexpr double finest = 1 << 20;
    const double largest = *std::ranges::max_element(prices);
    std::vector<double> whole;
    for (const double price : prices) whole.push_back(std::round(price / largest * finest));
    return whole;
  }

  bool needs_too_much(const std::vector<OpenTask>& open, const std::vector<double>& prices) const {
    const auto times = [&](std::size_t unit) { return static_cast<__int128>(prices[unit]); };
    __int128 left = 0;
    for (std::size_t u = 0; u < prices.size(); ++u)
      left += times(u) * (capacity_parts() - occupancy_.load(u));
    for (const OpenTask& task : open) {
      std::optional<__int128> least;
      for (const PlaceOption* option : task.options) {
        __int128 sum = 0;
        for (const PlaceOption::Use& use : option->uses) sum += times(use.unit) * use.parts;
        if (!least || sum < *least) least = sum;
      }
      left -= *least;
    }
    return left < 0;
  }

  const AdmissionProblem& problem_;
  const AdmissionOptions& options_;
  const SearchLimits limits_;
  const bool sum_;
  Occupancy occupancy_;
  ChoiceSearch result_;
  double open_bound_ = no_limit;
  bool stopped_ = false;
};

}  // namespace

double least_difference(double cost) { return 1e-10 * std::max(1.0, std::abs(cost)); }

ChoiceSearch search_choices(const AdmissionProblem& problem, const AdmissionOptions& options,
                            const std::optional<AdmissionChoice>& known,
                            const SearchLimits& limits) {
  return ChoiceBranching(problem, options, limits).run(known);
}

}  // namespace millrace::explore
