#include "explore/configuration/cut_points.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"
#include "explore/configuration/tuning.h"

namespace millrace::explore {
namespace {

using Cuts = std::vector<std::size_t>;
using Move = std::vector<int>;  // by cut: steps along the positions

constexpr int most_steps = 12;              // over positions that the board cannot cut at
constexpr int most_tries = 64;              // of tuples that may turn out not to be feasible
constexpr std::size_t most_rated = 60'000;  // tuples that the profile rates for the first cuts
constexpr std::size_t apart = 10;           // of so many parts of the positions, one between starts

/// Nothing if a cut would leave the positions, or two would meet.
std::optional<Cuts> moved(const Cuts& cuts, const Move& move, const Cuts& positions) {
  Cuts result;
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    const auto at = std::lower_bound(positions.begin(), positions.end(), cuts[c]);
    const std::ptrdiff_t index = at - positions.begin() + move[c];
    if (index < 0 || index >= static_cast<std::ptrdiff_t>(positions.size())) return std::nullopt;
    result.push_back(positions[static_cast<std::size_t>(index)]);
    if (c > 0 && result[c] <= result[c - 1]) return std::nullopt;
  }
  return result;
}

/// The next feasible tuple in the direction.
std::optional<Configuration> next(CandidateCache& cache, Configuration configuration,
                                  const Move& move, const Cuts& positions) {
  for (int step = 0; step < most_steps; ++step) {
    std::optional<Cuts> cuts = moved(configuration.cuts, move, positions);
    if (!cuts) return std::nullopt;
    configuration.cuts = std::move(*cuts);
    if (cache.is_feasible(configuration)) return configuration;
  }
  return std::nullopt;
}

/// A policy on its way.
struct Walk {
  Move move;
  Configuration at;
  double throughput = 0;
};

/// As far as it helps.
Walk walked(CandidateCache& cache, Walk walk, const Cuts& positions) {
  while (const auto there = next(cache, walk.at, walk.move, positions)) {
    const auto score = cache.ask(*there);
    if (!score || score->throughput <= walk.throughput) break;
    walk.at = *there;
    walk.throughput = score->throughput;
  }
  return walk;
}

std::vector<Move> single_moves(std::size_t cuts) {
  std::vector<Move> moves;
  for (std::size_t c = 0; c < cuts; ++c)
    for (const int step : {-1, 1}) moves.emplace_back(cuts, 0)[c] = step;
  return moves;
}

std::vector<Move> free_moves(std::size_t cuts) {
  std::vector<Move> moves = single_moves(cuts);
  if (cuts > 1)
    for (const int step : {-1, 1}) moves.emplace_back(cuts, step);
  return moves;
}

/// Moves that give the last stage's processor more.
std::vector<Move> moves_to_last(const std::vector<ProcessorGroup>& stages) {
  const std::size_t cuts = stages.size() - 1;
  const auto is_last = [&](std::size_t stage) { return stages[stage] == stages.back(); };
  std::vector<Move> moves;
  for (std::size_t c = 0; c < cuts; ++c)
    if (is_last(c) != is_last(c + 1)) moves.emplace_back(cuts, 0)[c] = is_last(c) ? 1 : -1;
  if (cuts > 1) moves.emplace_back(cuts, -1);
  return moves;
}

Cuts sampled(const Cuts& positions, std::size_t every, const Cuts& also) {
  Cuts result = also;
  for (std::size_t i = every - 1; i < positions.size(); i += every) result.push_back(positions[i]);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// All ascending tuples of these positions.
void for_each_tuple(const Cuts& positions, std::size_t cuts, Cuts& chosen,
                    const std::function<void(const Cuts&)>& use) {
  if (chosen.size() == cuts) return use(chosen);
  for (const std::size_t position : positions) {
    if (!chosen.empty() && position <= chosen.back()) continue;
    chosen.push_back(position);
    for_each_tuple(positions, cuts, chosen, use);
    chosen.pop_back();
  }
}

/// So few, evenly spread, that there are at most so many tuples of them.
Cuts thinned(const Cuts& positions, std::size_t cuts) {
  const double most =
      std::pow(static_cast<double>(most_rated) * std::tgamma(static_cast<double>(cuts) + 1),
               1.0 / static_cast<double>(cuts));
  const auto count = std::max(cuts, std::min(positions.size(), static_cast<std::size_t>(most)));
  Cuts result;
  for (std::size_t i = 0; i < count && !positions.empty(); ++i)
    result.push_back(positions[(2 * i + 1) * positions.size() / (2 * count)]);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// Single cuts and all at once, over all positions, as long as the profile says that it helps.
Configuration balanced(CandidateCache& cache, Configuration configuration, const Cuts& positions) {
  double best = cache.predictor().bottleneck(configuration);
  for (bool better = true; better;) {
    better = false;
    for (const Move& move : free_moves(configuration.cuts.size())) {
      const auto cuts = moved(configuration.cuts, move, positions);
      if (!cuts) continue;
      Configuration other = configuration;
      other.cuts = *cuts;
      const double time = cache.predictor().bottleneck(other);
      if (time >= best || !cache.is_feasible(other)) continue;
      best = time;
      configuration = std::move(other);
      better = true;
    }
  }
  return configuration;
}

/// Tuples that seem to fit, the least bottleneck by the profile first.
std::vector<Cuts> rated_tuples(const Predictor& predictor, Configuration configuration,
                               const Cuts& positions) {
  std::vector<std::pair<double, Cuts>> rated;
  const std::size_t cuts = configuration.stages.size() - 1;
  Cuts chosen;
  for_each_tuple(thinned(positions, cuts), cuts, chosen, [&](const Cuts& tuple) {
    configuration.cuts = tuple;
    if (predictor.may_fit(configuration))
      rated.emplace_back(predictor.bottleneck(configuration), tuple);
  });
  std::stable_sort(rated.begin(), rated.end());
  std::vector<Cuts> result;
  for (auto& [time, tuple] : rated) result.push_back(std::move(tuple));
  return result;
}

/// Some cut is far from the other's.
bool is_far(const Cuts& a, const Cuts& b, const Cuts& positions) {
  const auto index = [&](std::size_t cut) {
    return std::lower_bound(positions.begin(), positions.end(), cut) - positions.begin();
  };
  const auto least = static_cast<std::ptrdiff_t>(positions.size() / apart);
  for (std::size_t c = 0; c < a.size(); ++c)
    if (std::abs(index(a[c]) - index(b[c])) > least) return true;
  return false;
}

std::vector<Configuration> balanced_cuts(CandidateCache& cache, Configuration configuration,
                                         const Cuts& positions, std::size_t starts) {
  std::vector<Configuration> result;
  int tries = 0;
  for (const Cuts& tuple : rated_tuples(cache.predictor(), configuration, positions)) {
    configuration.cuts = tuple;
    const bool far = std::all_of(result.begin(), result.end(), [&](const Configuration& other) {
      return is_far(tuple, other.cuts, positions);
    });
    if (!far) continue;
    if (cache.is_feasible(configuration))
      result.push_back(balanced(cache, configuration, positions));
    if (result.size() == starts || ++tries == most_tries) break;
  }
  return result;
}

std::vector<Configuration> random_cuts(CandidateCache& cache, Configuration configuration,
                                       const Cuts& positions, std::uint64_t seed) {
  Random random(seed);
  for (int attempt = 0; attempt < most_tries; ++attempt) {
    std::set<std::size_t> cuts;
    while (cuts.size() + 1 < configuration.stages.size())
      cuts.insert(positions[random.below(positions.size())]);
    configuration.cuts.assign(cuts.begin(), cuts.end());
    if (cache.is_feasible(configuration)) return {configuration};
  }
  return {};
}

/// Lines 2 to 9 of Algorithm 3.
Walk with_streams_behind(CandidateCache& cache, Walk walk) {
  const auto& stages = walk.at.stages;
  if (walk.at.streams.empty() || stages.size() < 2 || stages.front() != stages.back()) return walk;
  Walk other = walk;
  other.at.streams.back() += other.at.streams.front() - 1;
  other.at.streams.front() = 1;
  if (!cache.is_feasible(other.at)) return walk;
  const auto score = cache.ask(other.at);
  if (!score || score->throughput <= walk.throughput) return walk;
  other.throughput = score->throughput;
  return other;
}

/// The search of one option.
class GlobalSearch {
 public:
  GlobalSearch(CandidateCache& cache, const MappingOption& option, const CutPointOptions& options)
      : cache_(cache), option_(option), options_(options) {}

  std::size_t run(const std::vector<Configuration>& first) {
    const Cuts positions = cut_positions(cache_.context().problem);
    Cuts also;
    for (const Configuration& start : first)
      also.insert(also.end(), start.cuts.begin(), start.cuts.end());
    samples_ = sampled(positions, std::max<std::size_t>(1, options_.every), also);
    const auto scores = cache_.ask(first);
    for (std::size_t i = 0; i < first.size(); ++i)
      if (scores[i]) enter(first[i], *scores[i]);
    while (const Entry* entry = next_entry()) {
      const Configuration from = entry->configuration;
      go_on_from(from);
    }
    return refined_.size();
  }

 private:
  struct Entry {
    Configuration configuration;
    Score score;
  };
  double utilisation(const Score& score) const {
    const ProcessorGroup& last = option_.stages.back();
    double sum = 0;
    for (const ProcessorId processor : last) sum += score.utilisation[processor.index];
    return sum / static_cast<double>(last.size());
  }

  /// The best of the top that was not gone on from; null: none, or nothing left to measure with.
  const Entry* next_entry() {
    if (cache_.is_spent()) return nullptr;
    for (const Entry& entry : top_)
      if (gone_on_.insert(entry.configuration).second) return &entry;
    return nullptr;
  }

  void go_on_from(const Configuration& from) {
    const Score score = cache_[from];
    const bool busy = utilisation(score) >= options_.threshold;
    std::vector<Walk> walks;
    for (const Move& move : busy ? free_moves(from.cuts.size()) : moves_to_last(option_.stages))
      walks.push_back({move, from, score.throughput});
    while (!walks.empty() && !cache_.is_spent()) walks = stepped(walks);
  }

  /// Returns the walks that go on.
  std::vector<Walk> stepped(const std::vector<Walk>& walks) {
    std::vector<Walk> going;
    std::vector<Configuration> wanted;
    for (const Walk& walk : walks)
      if (const auto there = next(cache_, walk.at, walk.move, samples_)) {
        wanted.push_back(*there);
        going.push_back(walk);
      }
    const auto scores = cache_.ask(wanted);
    std::vector<Walk> result;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!scores[i]) continue;
      enter(wanted[i], *scores[i]);
      if (scores[i]->throughput > going[i].throughput)
        result.push_back({going[i].move, wanted[i], scores[i]->throughput});
    }
    return result;
  }

  void enter(const Configuration& configuration, const Score& score) {
    if (!seen_.insert(configuration).second) return;
    const auto at = std::upper_bound(
        top_.begin(), top_.end(), score.throughput,
        [](double throughput, const Entry& entry) { return throughput > entry.score.throughput; });
    if (at - top_.begin() >= static_cast<std::ptrdiff_t>(options_.top)) return;
    top_.insert(at, {configuration, score});
    if (top_.size() > options_.top) top_.pop_back();
    if (!options_.local || utilisation(score) < options_.threshold) return;
    refined_.insert(configuration);
    refine_cut_points(cache_, configuration);
  }

  CandidateCache& cache_;
  const MappingOption& option_;
  const CutPointOptions& options_;
  Cuts samples_;
  std::vector<Entry> top_;  // the best first
  std::set<Configuration> seen_, gone_on_, refined_;
};

}  // namespace

Configuration with_usual(const SearchContext& context, Configuration configuration,
                         const CutPointOptions& options) {
  configuration.slots = options.slots;
  configuration.streams = first_streams(context, configuration.stages, options.streams);
  return configuration;
}

std::vector<Configuration> first_tuples(CandidateCache& cache, const MappingOption& option,
                                        const CutPointOptions& options) {
  const Configuration configuration =
      with_usual(cache.context(), {option.stages, options.start}, options);
  const Cuts positions = cut_positions(cache.context().problem);
  const std::size_t cuts = option.stages.size() - 1;
  if (positions.size() < cuts) return {};
  if (cuts == 0 || options.start.size() == cuts)
    return cache.is_feasible(configuration) ? std::vector{configuration}
                                            : std::vector<Configuration>{};
  return options.random_start ? random_cuts(cache, configuration, positions, *options.random_start)
                              : balanced_cuts(cache, configuration, positions, options.starts);
}

std::size_t explore_cut_points(CandidateCache& cache, const MappingOption& option,
                               const CutPointOptions& options) {
  return GlobalSearch(cache, option, options).run(first_tuples(cache, option, options));
}

void refine_cut_points(CandidateCache& cache, const Configuration& from) {
  const auto start = cache.ask(from);
  if (!start) return;
  const Cuts positions = cut_positions(cache.context().problem);
  Walk current = with_streams_behind(cache, {{}, from, start->throughput});
  for (bool better = true; better;) {
    const double before = current.throughput;
    for (const Move& move : single_moves(from.cuts.size())) {
      current.move = move;
      current = walked(cache, current, positions);
    }
    better = current.throughput > before;
  }
}

}  // namespace millrace::explore
