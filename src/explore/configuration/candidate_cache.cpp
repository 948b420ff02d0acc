#include "explore/configuration/candidate_cache.h"

#include <algorithm>
#include <limits>

namespace millrace::explore {

bool CandidateCache::is_feasible(const Configuration& configuration) {
  // Slots change nothing in what runs where.
  Configuration key = configuration;
  key.slots = context_.build.capacity;
  const auto [entry, added] = feasible_.try_emplace(key, false);
  if (added)
    entry->second = predictor_.may_fit(key) && static_cast<bool>(realise(context_, key).verdict);
  return entry->second;
}

std::vector<std::optional<Score>> CandidateCache::ask(
    std::span<const Configuration> configurations) {
  std::vector<Configuration> wanted;
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

void CandidateCache::measure(const std::vector<Configuration>& wanted) {
  std::vector<Configuration> news;
  for (const Configuration& configuration : wanted)
    if (options_.known.count(configuration) == 0) news.push_back(configuration);
  if (!news.empty() && options_.stop && options_.stop()) stopped_ = true;
  if (stopped_) news.clear();
  const std::vector<Score> scores = news.empty() ? std::vector<Score>{} : objective_(news);
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
