#pragma once
// Every candidate that was measured, once: the memory and the budget of a search.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/operation/ranks.h"
#include "explore/configuration/predictor.h"

namespace millrace::explore {

struct CandidateCacheOptions {
  std::int64_t candidates = 0;                // to measure at most; 0: any number
  std::function<bool()> stop = {};            // asked before each measurement; empty: never
  std::map<Configuration, Score> known = {};  // of an interrupted search: count, but cost nothing
  /// Told of each new candidate, in order; `again`: it was known.
  std::function<void(const Configuration&, const Score&, bool again)> note = {};
  bool one_by_one = false;  // the objective is asked for one at a time: each takes long
  Ranks* ranks = nullptr;   // who share candidates; borrowed; null: nobody
};

class CandidateCache {
 public:
  CandidateCache(const SearchContext& context, Objective objective, CandidateCacheOptions options)
      : context_(context),
        predictor_(context),
        objective_(std::move(objective)),
        options_(std::move(options)) {}

  /// Whether the board can run it; asked of the plan, without measuring, and remembered.
  bool is_feasible(const Configuration& configuration);

  /// In the same order. Nothing where it is not feasible, or where the budget is empty.
  std::vector<std::optional<Score>> ask(std::span<const Configuration> configurations);
  std::optional<Score> ask(const Configuration& configuration);

  /// From now on so many more at most, but never more than all; nothing: all that are left.
  void allow(std::optional<std::int64_t> more);
  bool is_spent() const;  // of what is allowed
  std::int64_t count() const { return static_cast<std::int64_t>(order_.size()); }
  std::int64_t left() const;  // of what is allowed

  /// The first among equals. Precondition: something was measured.
  const Configuration& best() const { return order_[best_]; }
  /// Nothing before the first candidate.
  std::optional<Configuration> best_if_any() const {
    return empty() ? std::nullopt : std::optional(best());
  }
  const Score& score_of_best() const { return scores_.at(best()); }
  bool empty() const { return order_.empty(); }
  /// In the order of measuring.
  const std::vector<Configuration>& order() const { return order_; }
  const Score& operator[](const Configuration& configuration) const {
    return scores_.at(configuration);
  }
  const SearchContext& context() const { return context_; }
  const Predictor& predictor() const { return predictor_; }
  Ranks* ranks() const { return options_.ranks; }

 private:
  void enter(const Configuration& configuration, const Score& score, bool again);
  void measure(const std::vector<Configuration>& wanted);
  std::vector<Score> scores_of(const std::vector<Configuration>& configurations) const;
  void share_feasibility(std::span<const Configuration> configurations);
  bool can_run(const Configuration& key) const;

  const SearchContext& context_;
  Predictor predictor_;
  Objective objective_;
  CandidateCacheOptions options_;
  std::optional<std::int64_t> pause_at_;
  bool stopped_ = false;
  std::map<Configuration, bool> feasible_;
  std::map<Configuration, Score> scores_;
  std::vector<Configuration> order_;
  std::size_t best_ = 0;
};

}  // namespace millrace::explore
