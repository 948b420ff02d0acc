#pragma once
// What follows from the measurements of a bench.
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/bench/bench.h"

namespace millrace::runtime {

inline constexpr std::array<std::pair<const char*, double>, 4> latency_percentiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}}};

double median_rate(const BenchRow& row);
/// How many times as fast as the row the plan is: the median of the rounds, in each of which both
/// were measured.
double speedup(const BenchResult& result, const BenchRow& row);
/// Precondition: at least one.
Time mean_of(const std::vector<Time>& times);
/// Energy of a frame; nothing if it was not measured.
std::optional<double> millijoules(const BenchRow& row);

/// Time of a replica of a stage: one frame, all other stages idle; the median of the rounds.
Time median_alone(const BenchResult& result, std::size_t stage);
Time busy_per_frame(const StageStatistics& stage);
/// The part of its time in which a stage works, at this rate of the pipeline.
double busy_share(const BenchResult& result, std::size_t stage, double rate);
/// The stage that passes the fewest frames by itself, with its replicas.
std::size_t bottleneck(const BenchResult& result);
/// What the stages allow, each by itself, in frames per second, in each round.
std::vector<double> rates_allowed(const BenchResult& result);
/// How much of that the plan reached: the median of the rounds.
double share_of_allowed(const BenchResult& result);
/// Beside what was measured of the pipeline.
profile::Rooflines rooflines_of(const BenchResult& result);

}  // namespace millrace::runtime
