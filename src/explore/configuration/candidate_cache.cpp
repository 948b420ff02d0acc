#include "explore/configuration/candidate_cache.h"

#include <algorithm>
#include <limits>

namespace millrace::explore {
namespace {

/// Slots change nothing in what runs where.
Configuration key_of(const Configuration& configuration, const SearchContext& context) {
  Configuration key = configuration;
  key.slots = context.build.capacity;
  return key;
}

}  // namespace

bool CandidateCache::can_run(const Configuration& key) const {
  return predictor_.may_fit(key) && static_cast<bool>(realise(context_, key).verdict);
}

bool CandidateCache::is_feasible(const Configuration& configuration) {
  const auto [entry, added] = feasible_.try_emplace(key_of(configuration, context_), false);
  if (added) entry->second = can_run(entry->first);
  return entry->second;
}

/// To find out takes about as long as a simulation.
void CandidateCache::share_feasibility(std::span<const Configuration> configurations) {
  std::vector<Configuration> unknown;
  for (const Configuration& configuration : configurations) {
    Configuration key = key_of(configuration, context_);
    if (scores_.count(configuration) == 0 && feasible_.try_emplace(key, false).second)
      unknown.push_back(std::move(key));
  }
  const std::vector<Numbers> answers =
      shared_out(options_.ranks, unknown.size(),
                 [&](std::size_t i) { return Numbers{can_run(unknown[i]) ? 1.0 : 0.0}; });
  for (std::size_t i = 0; i < unknown.size(); ++i) feasible_[unknown[i]] = answers[i].front() > 0;
}

std::vector<std::optional<Score>> CandidateCache::ask(
    std::span<const Configuration> configurations) {
  std::vector<Configuration> wanted;
  if (are_several(options_.ranks) && left() > 0) share_feasibility(configurations);
  for (const Configuration& configuration : configurations) {
    if (static_cast<std::int64_t>(wanted.size()) >= left()) break;
    if (scores_.count(configuration) == 0 &&
        std::find(wanted.begin(), wanted.end(), configuration) == wanted.end() &&
        is_feasible(configuration))
      wanted.push_back(configuration);
  }
  measure(wanted);
  std::vector<std::optional<Score>> result;
  for (const Configuration& configuration : configurations) {
    const auto found = scores_.find(configuration);
    result.push_back(found == scores_.end() ? std::nullopt : std::optional(found->second));
  }
  return result;
}

std::optional<Score> CandidateCache::ask(const Configuration& configuration) {
  return ask(std::span(&configuration, 1)).front();
}

std::vector<Score> CandidateCache::scores_of(
    const std::vector<Configuration>& configurations) const {
  if (!are_several(options_.ranks)) return objective_(configurations);
  const auto share = [&](const std::vector<std::size_t>& mine) {
    std::vector<Configuration> own;
    for (const std::size_t i : mine) own.push_back(configurations[i]);
    std::vector<Numbers> result;
    for (const Score& score : own.empty() ? std::vector<Score>{} : objective_(own)) {
      result.push_back({score.throughput});
      result.back().insert(result.back().end(), score.utilisation.begin(), score.utilisation.end());
    }
    return result;
  };
  std::vector<Score> scores;
  for (const Numbers& all : shared_out_at_once(options_.ranks, configurations.size(), share))
    scores.push_back({all.front(), {all.begin() + 1, all.end()}});
  return scores;
}

void CandidateCache::measure(const std::vector<Configuration>& wanted) {
  if (options_.one_by_one && wanted.size() > 1) {
    for (const Configuration& each : wanted) measure({each});
    return;
  }
  std::vector<Configuration> news;
  for (const Configuration& configuration : wanted)
    if (options_.known.count(configuration) == 0) news.push_back(configuration);
  if (!news.empty() && options_.stop && options_.stop()) stopped_ = true;
  if (stopped_) news.clear();
  const std::vector<Score> scores = news.empty() ? std::vector<Score>{} : scores_of(news);
  for (const Configuration& configuration : wanted) {
    if (const auto known = options_.known.find(configuration); known != options_.known.end()) {
      enter(configuration, known->second, true);
      continue;
    }
    if (stopped_) return;
    const auto at = std::find(news.begin(), news.end(), configuration) - news.begin();
    enter(configuration, scores[static_cast<std::size_t>(at)], false);
  }
}

void CandidateCache::enter(const Configuration& configuration, const Score& score, bool again) {
  scores_[configuration] = score;
  order_.push_back(configuration);
  if (score.throughput > scores_.at(order_[best_]).throughput) best_ = order_.size() - 1;
  if (options_.note) options_.note(configuration, score, again);
}

void CandidateCache::allow(std::optional<std::int64_t> more) {
  const bool far = more && *more > std::numeric_limits<std::int64_t>::max() - count();
  pause_at_ = more && !far ? std::optional(count() + *more) : std::nullopt;
}

std::int64_t CandidateCache::left() const {
  if (stopped_) return 0;
  std::int64_t left = std::numeric_limits<std::int64_t>::max();
  if (options_.candidates > 0) left = options_.candidates - count();
  if (pause_at_) left = std::min(left, *pause_at_ - count());
  return std::max<std::int64_t>(0, left);
}

bool CandidateCache::is_spent() const { return left() == 0; }

}  // namespace millrace::explore
