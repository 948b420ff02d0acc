#include "dataflow/sweeps.h"

#include <algorithm>
#include <limits>

#include "dataflow/checked.h"

namespace millrace::dataflow {
namespace {

constexpr std::uint32_t none = own_order;

/// A wait of the firing that it is filed under; firings are numbered in their order.
struct Step {
  std::uint32_t to;
  std::int32_t tokens;
  std::int64_t time;
};

struct Steps {
  std::vector<std::uint32_t> first;  // per firing, and an end
  std::vector<Step> steps;
  std::vector<std::uint32_t> waits;  // per step: the wait that it stands for

  Steps(const std::vector<std::uint32_t>& order, const std::vector<Wait>& all)
      : first(order.size() + 1, 0), steps(all.size()), waits(all.size()) {
    std::vector<std::uint32_t> rank(order.size());
    for (std::uint32_t r = 0; r < order.size(); ++r) rank[order[r]] = r;
    for (const Wait& wait : all) ++first[rank[wait.from] + 1];
    for (std::size_t r = 0; r < order.size(); ++r) first[r + 1] += first[r];
    std::vector<std::uint32_t> filled(first.begin(), first.end() - 1);
    for (std::uint32_t w = 0; w < all.size(); ++w) {
      const std::uint32_t at = filled[rank[all[w].from]]++;
      steps[at] = {rank[all[w].to], static_cast<std::int32_t>(all[w].tokens), all[w].time};
      waits[at] = w;
    }
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(first.size() - 1); }
};

/// Policy iteration. Each firing follows one of its steps, or none; values are delays under the
/// period of the worst cycle that is known, in integers.
class Sweeps {
 public:
  explicit Sweeps(const Steps& steps)
      : all_(steps), chosen_(steps.size(), none), values_(steps.size(), 0), state_(steps.size()) {
    for (const Step& step : all_.steps) {
      longest_ = std::max(longest_, step.time);
      most_tokens_ = std::max<std::int64_t>(most_tokens_, step.tokens);
    }
  }

  /// Whether the numbers suffice.
  bool solve() {
    for (std::uint32_t sweeps = first_sweeps;; sweeps = std::min(2 * sweeps, most_sweeps)) {
      if (!fits()) return false;
      for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep)
        if (!improve()) return true;
      while (follow()) take_over_worst();
    }
  }

  const Fraction& ratio() const { return ratio_; }
  const std::vector<std::uint32_t>& cycle() const { return cycle_; }  // steps

 private:
  std::int64_t delay(const Step& step) const {
    return ratio_.under() * step.time - ratio_.over() * step.tokens;
  }

  /// No path visits a firing twice, and no value is further from 0 than a path is long.
  bool fits() const {
    using Wide = __int128;
    const Wide largest = std::max(static_cast<Wide>(ratio_.under()) * longest_,
                                  static_cast<Wide>(ratio_.over()) * most_tokens_);
    return largest < (static_cast<Wide>(1) << 62) / (2 * (static_cast<Wide>(all_.size()) + 2));
  }

  /// One round in order; whether any firing is delayed further than was known.
  bool improve() {
    bool improved = false;
    for (std::uint32_t r = 0; r < all_.size(); ++r) {
      std::int64_t largest = values_[r];
      std::uint32_t best = none;
      for (std::uint32_t s = all_.first[r]; s < all_.first[r + 1]; ++s) {
        const std::int64_t value = values_[all_.steps[s].to] + delay(all_.steps[s]);
        if (value <= largest) continue;
        largest = value;
        best = s;
      }
      if (best == none) continue;
      values_[r] = largest;
      chosen_[r] = best;
      improved = true;
    }
    return improved;
  }

  /// The values along the choices; whether they run into cycles, one firing of each is in `met_`.
  bool follow() {
    enum State : char { unknown, passing, known };
    std::fill(state_.begin(), state_.end(), unknown);
    met_.clear();
    for (std::uint32_t start = 0; start < all_.size(); ++start) {
      std::uint32_t r = start;
      for (; state_[r] == unknown && chosen_[r] != none; r = all_.steps[chosen_[r]].to) {
        state_[r] = passing;
        path_.push_back(r);
      }
      if (state_[r] == passing) met_.push_back(r);
      if (state_[r] != known) values_[r] = 0;
      for (; !path_.empty(); path_.pop_back()) {
        const std::uint32_t node = path_.back();
        state_[node] = known;
        if (!met_.empty() && met_.back() == node) continue;
        const Step& step = all_.steps[chosen_[node]];
        values_[node] = values_[step.to] + delay(step);
      }
      state_[r] = known;
    }
    return !met_.empty();
  }

  /// Cuts the cycles that were met; the worst of them and of what was known counts.
  void take_over_worst() {
    for (const std::uint32_t root : met_) {
      std::int64_t time = 0, tokens = 0;
      std::uint32_t r = root;
      do {
        const Step& step = all_.steps[chosen_[r]];
        time = checked_add(time, step.time, "the times along a cycle");
        tokens += step.tokens;
        r = step.to;
      } while (r != root);
      const Fraction ratio(time, tokens);
      if (cycle_.empty() || ratio > ratio_) {
        ratio_ = ratio;
        keep_cycle(root);
      }
    }
    for (const std::uint32_t root : met_) chosen_[root] = none;
  }

  void keep_cycle(std::uint32_t root) {
    cycle_.clear();
    std::uint32_t r = root;
    do {
      cycle_.push_back(chosen_[r]);
      r = all_.steps[chosen_[r]].to;
    } while (r != root);
  }

  /// Rounds that are executed before cycles are looked for, since a look costs as much as several.
  static constexpr std::uint32_t first_sweeps = 3, most_sweeps = 12;

  const Steps& all_;
  std::vector<std::uint32_t> chosen_;  // by firing: a step
  std::vector<std::int64_t> values_;   // by firing
  std::vector<char> state_;
  std::vector<std::uint32_t> path_, met_, cycle_;
  std::int64_t longest_ = 0, most_tokens_ = 0;
  Fraction ratio_;
};

}  // namespace

std::optional<std::vector<std::uint32_t>> firing_order(std::uint32_t nodes,
                                                       const std::vector<Wait>& waits) {
  std::vector<std::uint32_t> waiting(nodes, 0), first(std::size_t{nodes} + 1, 0);
  for (const Wait& wait : waits)
    if (wait.tokens == 0) {
      ++waiting[wait.from];
      ++first[wait.to + 1];
    }
  for (std::uint32_t node = 0; node < nodes; ++node) first[node + 1] += first[node];
  std::vector<std::uint32_t> waiters(first[nodes]), filled(first.begin(), first.end() - 1);
  for (const Wait& wait : waits)
    if (wait.tokens == 0) waiters[filled[wait.to]++] = wait.from;
  std::vector<std::uint32_t> order;
  order.reserve(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node)
    if (waiting[node] == 0) order.push_back(node);
  for (std::size_t next = 0; next < order.size(); ++next)
    for (std::uint32_t i = first[order[next]]; i < first[order[next] + 1]; ++i)
      if (--waiting[waiters[i]] == 0) order.push_back(waiters[i]);
  if (order.size() < nodes) return std::nullopt;
  return order;
}

std::optional<CycleRatio> cycle_ratio_by_sweeps(const std::vector<std::uint32_t>& order,
                                                const std::vector<Wait>& waits) {
  const bool small = std::all_of(waits.begin(), waits.end(), [](const Wait& wait) {
    return wait.tokens <= std::numeric_limits<std::int32_t>::max();
  });
  if (!small) return std::nullopt;
  const Steps steps(order, waits);
  Sweeps sweeps(steps);
  if (!sweeps.solve()) return std::nullopt;
  CycleRatio result{false, sweeps.ratio(), {}};
  for (const std::uint32_t step : sweeps.cycle()) result.cycle.push_back(steps.waits[step]);
  return result;
}

}  // namespace millrace::dataflow
