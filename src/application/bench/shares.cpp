#include "application/bench/shares.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::application {

std::vector<Share> shares_of(const ApplicationResult& result) {
  const ApplicationRow& row = result.rows.back();
  Time elapsed{}, before{}, after{};
  std::vector<Share> shares;
  std::vector<Time> busy(row.rounds.front().stages.size());
  for (const ApplicationRound& round : row.rounds) {
    elapsed += round.totals.elapsed;
    before += round.totals.times.reading + round.totals.times.before;
    after += round.totals.times.after;
    for (std::size_t s = 0; s < busy.size(); ++s) busy[s] += round.stages[s].busy;
  }
  const auto share = [&](Time time, int threads) {
    return seconds(time) / std::max(1e-9, seconds(elapsed) * threads);
  };
  for (std::size_t s = 0; s < busy.size(); ++s)
    shares.push_back({row.rounds.front().stages[s].name, result.processors[s], share(busy[s], 1)});
  const auto threads = [](int count) {
    return count == 1 ? std::string("1 thread") : fmt::format("{} threads", count);
  };
  shares.push_back(
      {"reading, pre-processing", threads(row.before_threads), share(before, row.before_threads)});
  shares.push_back(
      {"post-processing", threads(row.after_threads), share(after, row.after_threads)});
  return shares;
}

std::size_t busiest_of(const std::vector<Share>& shares) {
  const auto most = std::max_element(
      shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.busy < b.busy; });
  return static_cast<std::size_t>(most - shares.begin());
}

Time per_frame(const Totals& totals, Time sum) {
  return sum / std::max<std::int64_t>(1, totals.frames);
}

std::optional<double> millijoules(const ApplicationRound& round) {
  if (!round.joules) return std::nullopt;
  const std::int64_t frames = std::max<std::int64_t>(1, round.totals.frames);
  return 1e3 * *round.joules / static_cast<double>(frames);
}

}  // namespace millrace::application
