#include "runtime/bench/summary.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace millrace::runtime {
namespace {

/// Frames per second that a stage, with its replicas, would pass alone.
double rate_alone(const BenchResult& result, std::size_t stage, Time alone) {
  return static_cast<double>(result.stages[stage].replicas) / seconds(alone);
}

}  // namespace

double median_rate(const BenchRow& row) { return median(rates(row)); }

double speedup(const BenchResult& result, const BenchRow& row) {
  std::vector<double> ratios;
  for (std::size_t r = 0; r < row.rounds.size(); ++r)
    ratios.push_back(rate_of(result.rows.back().rounds[r]) / rate_of(row.rounds[r]));
  return median(ratios);
}

Time mean_of(const std::vector<Time>& times) {
  return std::accumulate(times.begin(), times.end(), Time{}) /
         static_cast<std::int64_t>(times.size());
}

std::optional<double> millijoules(const BenchRow& row) {
  std::int64_t frames = 0;
  for (const Load& load : row.rounds) frames += load.frames;
  if (!row.joules || frames == 0) return std::nullopt;
  return 1e3 * *row.joules / static_cast<double>(frames);
}

Time median_alone(const BenchResult& result, std::size_t stage) {
  std::vector<Time> times;
  for (const std::vector<Time>& round : result.alone) times.push_back(round[stage]);
  return median(times);
}

Time busy_per_frame(const StageStatistics& stage) {
  return stage.frames > 0 ? stage.busy / stage.frames : Time{};
}

double busy_share(const BenchResult& result, std::size_t stage, double rate) {
  const StageStatistics& statistics = result.stages[stage];
  std::int64_t frames = statistics.frames * statistics.replicas;  // that passed the pipeline
  if (result.shared) {
    frames = 0;
    for (const StageStatistics& each : result.stages) frames += each.frames;
  }
  if (frames == 0) return 0;
  return std::min(1.0, rate * seconds(statistics.busy) / static_cast<double>(frames));
}

std::size_t bottleneck(const BenchResult& result) {
  const auto rate = [&](std::size_t s) { return rate_alone(result, s, median_alone(result, s)); };
  std::size_t slowest = 0;
  for (std::size_t s = 1; s < result.stages.size(); ++s)
    if (rate(s) < rate(slowest)) slowest = s;
  return slowest;
}

std::vector<double> rates_allowed(const BenchResult& result) {
  std::vector<double> rates;
  for (const std::vector<Time>& alone : result.alone) {
    double sum = 0, least = std::numeric_limits<double>::infinity();
    for (std::size_t s = 0; s < alone.size(); ++s) {
      sum += 1 / seconds(alone[s]);
      least = std::min(least, rate_alone(result, s, alone[s]));
    }
    rates.push_back(result.shared ? sum : least);
  }
  return rates;
}

double share_of_allowed(const BenchResult& result) {
  std::vector<double> shares = rates_allowed(result);
  for (std::size_t r = 0; r < shares.size(); ++r)
    shares[r] = rate_of(result.rows.back().rounds[r]) / shares[r];
  return median(shares);
}

profile::Rooflines rooflines_of(const BenchResult& result) {
  profile::Rooflines rooflines = result.rooflines;
  rooflines.measured_fps = median_rate(result.rows.back());
  for (std::size_t s = 0; s < rooflines.stages.size(); ++s)
    rooflines.stages[s].measured = busy_per_frame(result.stages[s]);
  return rooflines;
}

}  // namespace millrace::runtime
