#include "dataflow/cycle_ratio.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "dataflow/checked.h"

namespace millrace::dataflow {
namespace {

using Wide = __int128;
constexpr std::uint32_t nothing = own_order;

/// Each node follows one of its waits, or none; so every path ends or runs into a cycle.
class Policy {
 public:
  Policy(std::size_t nodes, const std::vector<Wait>& all) : waits(all), choices_(nodes) {}

  const std::vector<Wait>& waits;

  std::uint32_t size() const { return static_cast<std::uint32_t>(choices_.size()); }
  std::uint32_t chosen(std::uint32_t node) const { return choices_[node].wait; }
  std::uint32_t next(std::uint32_t node) const { return choices_[node].to; }
  void choose(std::uint32_t node, std::uint32_t wait) { choices_[node] = {wait, waits[wait].to}; }
  void stop(std::uint32_t node) { choices_[node] = {}; }

  /// The waits of the cycle that the node lies on.
  std::vector<std::uint32_t> cycle_from(std::uint32_t node) const {
    std::vector<std::uint32_t> cycle;
    const std::uint32_t first = node;
    do {
      cycle.push_back(chosen(node));
      node = next(node);
    } while (node != first);
    return cycle;
  }

  /// One node of every cycle.
  std::vector<std::uint32_t> on_cycles() const {
    std::vector<std::uint32_t> result,
        seen(choices_.size(), nothing);  // seen: the walk that met it
    for (std::uint32_t start = 0; start < size(); ++start) {
      std::uint32_t node = start;
      while (seen[node] == nothing && chosen(node) != nothing) {
        seen[node] = start;
        node = next(node);
      }
      if (chosen(node) != nothing && seen[node] == start) result.push_back(node);
      if (seen[node] == nothing) seen[node] = start;
    }
    return result;
  }

 private:
  struct Choice {
    std::uint32_t wait = nothing, to = nothing;
  };
  std::vector<Choice> choices_;  // by node
};

/// What a cycle of waits amounts to.
struct Sums {
  std::int64_t time = 0, tokens = 0;

  bool is_impossible() const { return tokens < 0 || (tokens == 0 && time > 0); }
};

Sums sums_from(const Policy& policy, std::uint32_t node) {
  Sums sums;
  const std::uint32_t first = node;
  do {
    const Wait& wait = policy.waits[policy.chosen(node)];
    sums.time = checked_add(sums.time, wait.time, "the times along a cycle");
    sums.tokens = checked_add(sums.tokens, wait.tokens, "the tokens along a cycle");
    node = wait.to;
  } while (node != first);
  return sums;
}

Wide magnitude(Wide value) { return value < 0 ? -value : value; }

/// Waits by the node that is waited for.
struct Waiters {
  std::vector<std::uint32_t> first, waits;  // first: per node, and an end

  Waiters(std::size_t nodes, const std::vector<Wait>& all)
      : first(nodes + 1, 0), waits(all.size()) {
    for (const Wait& wait : all) ++first[wait.to + 1];
    for (std::size_t node = 0; node < nodes; ++node) first[node + 1] += first[node];
    std::vector<std::uint32_t> filled = first;
    for (std::uint32_t w = 0; w < all.size(); ++w) waits[filled[all[w].to]++] = w;
  }
};

/// Which nodes' paths end at `root`. Other cycles are cut open.
std::vector<bool> nodes_that_end_at(std::uint32_t root, Policy& policy) {
  enum State : char { unknown, passing, away, there };
  std::vector<char> state(policy.size(), unknown);
  std::vector<std::uint32_t> path;
  policy.stop(root);
  state[root] = there;
  for (std::uint32_t start = 0; start < policy.size(); ++start) {
    std::uint32_t node = start;
    for (; state[node] == unknown && policy.chosen(node) != nothing; node = policy.next(node)) {
      state[node] = passing;
      path.push_back(node);
    }
    if (state[node] == passing) policy.stop(node);
    if (state[node] != there) state[node] = away;
    for (const char end = state[node]; !path.empty(); path.pop_back()) state[path.back()] = end;
  }
  std::vector<bool> result(policy.size());
  for (std::uint32_t node = 0; node < policy.size(); ++node) result[node] = state[node] == there;
  return result;
}

/// Makes all paths that can end at `root` do so; those of the policy that do stay as they are.
void lead_to(std::uint32_t root, Policy& policy, const Waiters& waiters) {
  std::vector<bool> there = nodes_that_end_at(root, policy);
  std::vector<std::uint32_t> queue;
  for (std::uint32_t node = 0; node < policy.size(); ++node)
    if (there[node]) queue.push_back(node);
  for (std::size_t next = 0; next < queue.size(); ++next)
    for (std::uint32_t i = waiters.first[queue[next]]; i < waiters.first[queue[next] + 1]; ++i) {
      const std::uint32_t w = waiters.waits[i], node = policy.waits[w].from;
      if (there[node]) continue;
      there[node] = true;
      policy.choose(node, w);
      queue.push_back(node);
    }
}

/// Longest delays under a policy and their improvement, in integers of the type Value.
template <class Value>
class Delays {
 public:
  Delays(Policy& policy, const Fraction& period)
      : policy_(policy),
        over_(period.over()),
        under_(period.under()),
        values_(policy.size(), 0),
        state_(policy.size()) {}

  /// One round over all waits; whether any node is delayed further than was known.
  bool improve() {
    bool improved = false;
    for (std::uint32_t i = 0; i < policy_.waits.size(); ++i) {
      const std::uint32_t w = order_.empty() ? i : order_[i];
      const Wait& wait = policy_.waits[w];
      const Value value = values_[wait.to] + delay(wait);
      if (value <= values_[wait.from]) continue;
      values_[wait.from] = value;
      policy_.choose(wait.from, w);
      improved = true;
    }
    return improved;
  }

  /// From now on looks at the waits in the order in which their nodes are delayed, so that what
  /// improves a node is seen by those behind it in the same round.
  void put_in_order() {
    std::vector<std::uint32_t> nodes(values_.size()), place(values_.size() + 1, 0);
    std::iota(nodes.begin(), nodes.end(), 0);
    std::sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
      return values_[a] != values_[b] ? values_[a] < values_[b] : a < b;
    });
    for (const Wait& wait : policy_.waits) ++place[wait.from];
    std::uint32_t next = 0;
    for (std::uint32_t node : nodes) next += std::exchange(place[node], next);
    order_.resize(policy_.waits.size());
    for (std::uint32_t w = 0; w < order_.size(); ++w) order_[place[policy_.waits[w].from]++] = w;
  }

  /// The values along the policy, if it has no cycle.
  bool follow() {
    enum State : char { unknown, passing, known };
    std::fill(state_.begin(), state_.end(), unknown);
    for (std::uint32_t start = 0; start < policy_.size(); ++start) {
      std::uint32_t node = start;
      for (; state_[node] == unknown && policy_.chosen(node) != nothing;
           node = policy_.next(node)) {
        state_[node] = passing;
        path_.push_back(node);
      }
      if (state_[node] == passing) return false;
      if (state_[node] == unknown) values_[node] = 0;
      state_[node] = known;
      for (; !path_.empty(); path_.pop_back()) {
        const Wait& wait = policy_.waits[policy_.chosen(path_.back())];
        values_[path_.back()] = values_[wait.to] + delay(wait);
        state_[path_.back()] = known;
      }
    }
    return true;
  }

 private:
  /// With the period over/under: under * time - over * tokens.
  Value delay(const Wait& wait) const { return under_ * wait.time - over_ * wait.tokens; }

  Policy& policy_;
  Value over_, under_;
  std::vector<Value> values_;
  std::vector<char> state_;
  std::vector<std::uint32_t> path_, order_;
};

class Howard {
 public:
  Howard(std::uint32_t nodes, const std::vector<Wait>& waits, std::int64_t& looks)
      : policy_(nodes, waits), waiters_(nodes, waits), looks_(looks) {
    for (std::uint32_t w = 0; w < waits.size(); ++w) {
      const std::uint32_t chosen = policy_.chosen(waits[w].from);
      if (chosen == nothing || is_better_start(waits[w], waits[chosen]))
        policy_.choose(waits[w].from, w);
    }
  }

  /// Nothing if the looks do not suffice.
  std::optional<CycleRatio> solve() {
    look_for_cycles();
    while (!result_.impossible && !settles()) {
      if (looks_ < 0) return std::nullopt;
      look_for_cycles();
    }
    return result_;
  }

 private:
  static bool is_better_start(const Wait& one, const Wait& other) {
    return one.time != other.time ? one.time > other.time : one.tokens < other.tokens;
  }

  /// Takes over the worst of the policy's cycles if it is worse than what is known.
  void look_for_cycles() {
    std::uint32_t worst = nothing;
    for (std::uint32_t node : policy_.on_cycles()) {
      const Sums sums = sums_from(policy_, node);
      result_.impossible = sums.is_impossible();
      if (!result_.impossible && sums.tokens == 0) continue;
      const Fraction ratio = result_.impossible ? Fraction() : Fraction(sums.time, sums.tokens);
      const bool first = result_.cycle.empty() && worst == nothing;
      if (!result_.impossible && !first && ratio <= result_.ratio) continue;
      result_.ratio = ratio;
      worst = node;
      if (result_.impossible) break;
    }
    if (worst != nothing) result_.cycle = policy_.cycle_from(worst);
  }

  /// Whether no cycle exceeds the ratio; otherwise the policy has such a cycle afterwards, or there
  /// are no looks left.
  bool settles() {
    Wide largest = 1;
    for (const Wait& wait : policy_.waits)
      largest = std::max({largest, magnitude(static_cast<Wide>(result_.ratio.under()) * wait.time),
                          magnitude(static_cast<Wide>(result_.ratio.over()) * wait.tokens)});
    const Wide room = 2 * (static_cast<Wide>(policy_.size()) + 2);
    constexpr Wide narrow = static_cast<Wide>(1) << 62, wide = static_cast<Wide>(1) << 126;
    if (largest >= wide / room) does_not_fit("the times and tokens along a cycle");
    return largest < narrow / room ? settles_in<std::int64_t>() : settles_in<Wide>();
  }

  template <class Value>
  bool settles_in() {
    if (!result_.cycle.empty())
      lead_to(policy_.waits[result_.cycle.front()].from, policy_, waiters_);
    else  // only cycles without tokens and without time
      for (std::uint32_t node : policy_.on_cycles()) policy_.stop(node);
    Delays<Value> delays(policy_, result_.ratio);
    delays.follow();
    for (std::uint32_t rounds = 1; delays.improve(); ++rounds) {
      looks_ -= static_cast<std::int64_t>(policy_.waits.size());
      if (!delays.follow() || looks_ < 0) return false;
      if (rounds >= 4 && std::has_single_bit(rounds)) delays.put_in_order();
    }
    return true;
  }

  Policy policy_;
  Waiters waiters_;
  std::int64_t& looks_;
  CycleRatio result_;
};

}  // namespace

CycleRatio largest_cycle_ratio(std::uint32_t nodes, const std::vector<Wait>& waits) {
  std::int64_t looks = std::numeric_limits<std::int64_t>::max();
  return *Howard(nodes, waits, looks).solve();
}

std::optional<CycleRatio> largest_cycle_ratio(std::uint32_t nodes, const std::vector<Wait>& waits,
                                              std::int64_t& looks) {
  return Howard(nodes, waits, looks).solve();
}

}  // namespace millrace::dataflow
