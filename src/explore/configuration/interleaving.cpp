#include "explore/configuration/interleaving.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "explore/configuration/methods.h"
#include "explore/limits.h"

namespace millrace::explore {
namespace {

constexpr std::int64_t most_shares = 8;         // of one processor, of all frames of a round
constexpr std::size_t lengths_asked = 5;        // of rounds, from one frame for each processor on
constexpr std::size_t most_proportions = 4096;  // that are looked at

bool run_all_layers(const Problem& problem, const ProcessorGroup& group) {
  return std::ranges::all_of(problem.time, [&](const std::vector<double>& times) {
    return std::ranges::all_of(
        group, [&](ProcessorId processor) { return std::isfinite(times[processor.index]); });
  });
}

/// What a frame takes: of the layers that are shared, by processor; of the others, likewise.
struct SharedWork {
  std::vector<double> shared, rest;
};

SharedWork work_of(const SearchContext& context, const ProcessorGroup& group) {
  const plan::Mapping mapping = mapping_of(context, {{group}, {}});
  SharedWork work{std::vector<double>(context.problem.processors, 0.0), {}};
  work.rest = work.shared;
  for (std::size_t layer = 0; layer < context.problem.layers; ++layer) {
    const ProcessorId here = mapping.processors[layer];
    const std::vector<double>& times = context.problem.time[layer];
    if (here != group.front())
      work.rest[here.index] += times[here.index];
    else
      for (const ProcessorId each : group) work.shared[each.index] += times[each.index];
  }
  return work;
}

/// So many frames of a round for each of the group; of equal processors the same number.
using Shares = std::map<ProcessorId, std::int64_t>;

/// The time of the busiest processor for a frame.
double frame_time(const SharedWork& work, const Shares& shares) {
  std::int64_t round = 0;
  for (const auto& [processor, count] : shares) round += count;
  double longest = 0;
  for (std::size_t p = 0; p < work.shared.size(); ++p) {
    const auto share = shares.find(ProcessorId(p));
    const auto own = static_cast<double>(share == shares.end() ? 0 : share->second);
    longest = std::max(longest, own * work.shared[p] / static_cast<double>(round) + work.rest[p]);
  }
  return longest;
}

/// The group with each processor as often as its share says; the first stays the first.
ProcessorGroup repeated(const ProcessorGroup& group, const Shares& shares) {
  ProcessorGroup result;
  for (std::int64_t turn = 0; turn < most_shares; ++turn)
    for (const ProcessorId processor : group)
      if (turn < shares.at(processor)) result.push_back(processor);
  return result;
}

/// Each with the processor as well: from once to `most` times, or as often as the one it is like.
std::vector<Shares> extended(const std::vector<Shares>& all, ProcessorId processor,
                             std::int64_t most, ProcessorId alike) {
  std::vector<Shares> result;
  for (const Shares& shares : all) {
    const std::int64_t first = alike.valid() ? shares.at(alike) : 1;
    const std::int64_t last = alike.valid() ? first : most;
    for (std::int64_t count = first; count <= last; ++count) {
      result.push_back(shares);
      result.back()[processor] = count;
    }
  }
  if (result.size() > most_proportions) result.resize(most_proportions);
  return result;
}

/// All shares that the processors' streams allow.
std::vector<Shares> all_shares(const SearchContext& context, const ProcessorGroup& group) {
  std::vector<Shares> all{{}};
  const board::Device* before = nullptr;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const board::Processor& processor = context.board[group[i]];
    const board::Device* device = board::device_of(context.board, processor);
    const bool is_like_before = device != nullptr && device == before;
    const std::int64_t most = std::min(most_shares, most_streams(context.board, processor));
    all = extended(all, group[i], most, is_like_before ? group[i - 1] : ProcessorId{});
    before = device;
  }
  return all;
}

/// The best proportions of short rounds: of each length one. In longer rounds frames wait too long
/// for their turn.
std::vector<Configuration> with_fallback(const CandidateCache& cache, ProcessorGroup group) {
  const SearchContext& context = cache.context();
  group = fewest_layers_first(context.problem, std::move(group));
  const SharedWork work = work_of(context, group);
  std::map<std::size_t, std::pair<double, ProcessorGroup>> best;  // by the length of the round
  for (const Shares& shares : all_shares(context, group)) {
    ProcessorGroup round = repeated(group, shares);
    if (round.size() >= group.size() + lengths_asked) continue;
    const double time = frame_time(work, shares);
    const auto [known, added] = best.try_emplace(round.size(), time, round);
    if (!added && time < known->second.first) known->second = {time, std::move(round)};
  }
  std::vector<Configuration> result;
  for (auto& [length, rated] : best) result.push_back(whole(rated.second, cache));
  return result;
}

}  // namespace

Configuration whole(const ProcessorGroup& group, const CandidateCache& cache) {
  return {{group}, {}, cache.context().build.capacity};
}

std::vector<Configuration> interleavings(const CandidateCache& cache) {
  std::vector<Configuration> result;
  ProcessorGroup group;
  for (const ProcessorId processor : processors_by_speed(cache.context())) {
    group.push_back(processor);
    if (group.size() == 1 || run_all_layers(cache.context().problem, group)) {
      result.push_back(whole(group, cache));
      continue;
    }
    for (Configuration& each : with_fallback(cache, group)) result.push_back(std::move(each));
  }
  return result;
}

}  // namespace millrace::explore
