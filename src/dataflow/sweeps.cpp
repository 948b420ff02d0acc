#include "dataflow/sweeps.h"

#include <algorithm>
#include <limits>

#include "dataflow/checked.h"
#include "dataflow/cycle_ratio.h"

namespace millrace::dataflow {
namespace {

/// Policy iteration. Each firing follows one of its waits, or none; values are delays under the
/// period of the worst cycle that is known, in integers.
class Sweeps {
 public:
  explicit Sweeps(const Expansion& expansion)
      : all_(expansion),
        chosen_(all_.size(), {Expansion::none, Expansion::none}),
        values_(all_.size(), 0),
        met_by_(all_.size()),
        delays_(all_.kinds.size()) {}

  /// Whether 62 bits suffice.
  bool solve() {
    if (!set_delays()) return false;
    for (std::uint32_t sweeps = first_sweeps;; sweeps = std::min(2 * sweeps, most_sweeps)) {
      for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep)
        if (!improve()) return true;
      cut_cycles();
      if (!set_delays()) return false;
      follow();
    }
  }

  const ExpandedCycle& worst() const { return worst_; }

 private:
  using Wait = Expansion::Wait;

  /// Whether all values fit: no path visits a firing twice, and no value is further from 0 than a
  /// path is long.
  bool set_delays() {
    using Wide = __int128;
    const Wide room = (Wide{1} << 62) / (2 * (Wide{all_.size()} + 2));
    for (std::size_t kind = 0; kind < delays_.size(); ++kind) {
      const Wide time = Wide{worst_.ratio.under()} * all_.kinds[kind].time;
      const Wide tokens = Wide{worst_.ratio.over()} * all_.kinds[kind].tokens;
      if (std::max(time, tokens) >= room) return false;
      delays_[kind] = static_cast<std::int64_t>(time - tokens);
    }
    return true;
  }

  /// One round in order; whether any firing is delayed further than was known.
  bool improve() {
    bool improved = false;
    std::uint32_t w = 0;
    for (std::uint32_t node = 0; node < all_.size(); ++node) {
      std::int64_t largest = values_[node];
      std::uint32_t best = Expansion::none;
      for (const std::uint32_t end = all_.first[node + 1]; w < end; ++w) {
        const std::int64_t value = values_[all_.waits[w].to] + delays_[all_.waits[w].kind];
        if (value <= largest) continue;
        largest = value;
        best = w;
      }
      if (best == Expansion::none) continue;
      values_[node] = largest;
      chosen_[node] = all_.waits[best];
      improved = true;
    }
    return improved;
  }

  /// Cuts the cycles of the choices, and takes over the worst of them if it is worse than what is
  /// known.
  void cut_cycles() {
    std::fill(met_by_.begin(), met_by_.end(), Expansion::none);
    for (std::uint32_t start = 0; start < all_.size(); ++start) {
      std::uint32_t node = start;
      for (; met_by_[node] == Expansion::none && chosen_[node].to != Expansion::none;
           node = chosen_[node].to)
        met_by_[node] = start;
      if (chosen_[node].to == Expansion::none || met_by_[node] != start) continue;
      take_over(node);
      chosen_[node] = {Expansion::none, Expansion::none};
    }
  }

  void take_over(std::uint32_t root) {
    std::int64_t time = 0, tokens = 0;
    std::vector<std::uint32_t> kinds;
    std::uint32_t node = root;
    do {
      const Expansion::Kind& kind = all_.kinds[chosen_[node].kind];
      time = checked_add(time, kind.time, "the times along a cycle");
      tokens = checked_add(tokens, kind.tokens, "the tokens along a cycle");
      kinds.push_back(chosen_[node].kind);
      node = chosen_[node].to;
    } while (node != root);
    const Fraction ratio(time, tokens);
    if (worst_.kinds.empty() || ratio > worst_.ratio) worst_ = {ratio, std::move(kinds)};
  }

  /// The values along the choices, which have no cycles.
  void follow() {
    std::fill(met_by_.begin(), met_by_.end(), Expansion::none);
    for (std::uint32_t start = 0; start < all_.size(); ++start) {
      std::uint32_t node = start;
      for (; met_by_[node] == Expansion::none && chosen_[node].to != Expansion::none;
           node = chosen_[node].to) {
        met_by_[node] = start;
        path_.push_back(node);
      }
      if (met_by_[node] == Expansion::none) values_[node] = 0;
      met_by_[node] = start;
      for (; !path_.empty(); path_.pop_back()) {
        const Wait& wait = chosen_[path_.back()];
        values_[path_.back()] = values_[wait.to] + delays_[wait.kind];
      }
    }
  }

  /// Rounds that are executed before cycles are looked for, since a look costs as much as several.
  static constexpr std::uint32_t first_sweeps = 3, most_sweeps = 12;

  const Expansion& all_;
  std::vector<Wait> chosen_;           // by firing
  std::vector<std::int64_t> values_;   // by firing
  std::vector<std::uint32_t> met_by_;  // by firing: the walk that met it
  std::vector<std::int64_t> delays_;   // by kind
  std::vector<std::uint32_t> path_;
  ExpandedCycle worst_;
};

/// In any order, with numbers of twice the size.
ExpandedCycle slowest_cycle_in_wide_numbers(const Expansion& expansion) {
  std::vector<Wait> waits;
  waits.reserve(expansion.waits.size());
  for (std::uint32_t node = 0; node < expansion.size(); ++node)
    for (std::uint32_t w = expansion.first[node]; w < expansion.first[node + 1]; ++w) {
      const Expansion::Kind& kind = expansion.kinds[expansion.waits[w].kind];
      waits.push_back({node, expansion.waits[w].to, own_order, kind.time, kind.tokens});
    }
  CycleRatio found = largest_cycle_ratio(expansion.size(), waits);
  for (std::uint32_t& wait : found.cycle) wait = expansion.waits[wait].kind;
  return {found.ratio, std::move(found.cycle)};
}

}  // namespace

ExpandedCycle slowest_cycle(const Expansion& expansion) {
  Sweeps sweeps(expansion);
  return sweeps.solve() ? sweeps.worst() : slowest_cycle_in_wide_numbers(expansion);
}

}  // namespace millrace::dataflow
