// No simulated response exceeds its bound: random systems of every policy.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "random_system.h"
#include "realtime/analysis.h"
#include "realtime/simulate.h"
#include "realtime/utilisation.h"

namespace millrace::realtime {
namespace {

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

bool is_overloaded(const TaskSystem& system) {
  for (const Utilisation& one : utilisations(system))
    if (one.is_overloaded) return true;
  return false;
}

/// Sums of bound / largest simulated response of flows.
struct Tightness {
  double sum = 0;
  std::int64_t flows = 0, without_bound = 0, systems = 0;
  double analysis_s = 0;
  double mean() const { return flows == 0 ? 0 : sum / static_cast<double>(flows); }
};

void expect_agreement(const TaskSystem& system, std::uint64_t seed, Tightness& tightness) {
  const std::clock_t begin = std::clock();
  const Bounds bounds = analyse(system);
  tightness.analysis_s += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  ++tightness.systems;
  const int runs = static_cast<int>(number_in("MILLRACE_REALTIME_RUNS", 30));
  const SimulatedResponses seen = simulate(system, {seed, runs});
  for (std::size_t t = 0; t < system.tasks.size(); ++t)
    EXPECT_LE(seen.largest.tasks[t], bounds.tasks[t].response) << system.tasks[t].name;
  for (std::size_t f = 0; f < system.flows.size(); ++f) {
    EXPECT_LE(seen.largest.flows[f], bounds.flows[f].response) << system.flows[f].name;
    EXPECT_LE(seen.largest.completions[f], bounds.flows[f].completion) << system.flows[f].name;
    if (bounds.flows[f].response == unbounded) {
      ++tightness.without_bound;
      continue;
    }
    ++tightness.flows;
    tightness.sum += static_cast<double>(bounds.flows[f].response.count()) /
                     static_cast<double>(std::max(Time{1}, seen.largest.flows[f]).count());
  }
}

/// Seven policies and a mixture, so many systems each.
Tightness compare(const RandomSystemOptions& options, std::uint64_t count) {
  Tightness tightness;
  const std::uint64_t first = number_in("MILLRACE_REALTIME_SEED", 1) * 1'000'000;
  for (std::uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const TaskSystem system = random_system(random, options);
    if (!is_overloaded(system)) expect_agreement(system, seed, tightness);
  }
  std::printf(
      "%-28s %.1f: bound / simulated %.3f over %lld flows, %lld without bound, "
      "%.0f analyses/s\n",
      options.policy ? to_text(*options.policy) : "mixed", options.utilisation, tightness.mean(),
      static_cast<long long>(tightness.flows), static_cast<long long>(tightness.without_bound),
      static_cast<double>(tightness.systems) / std::max(1e-9, tightness.analysis_s));
  return tightness;
}

TEST(Agreement, no_simulated_response_exceeds_its_bound) {
  const std::uint64_t wanted = number_in("MILLRACE_REALTIME_SYSTEMS", 2400);
  std::int64_t systems = 0;
  for (const double utilisation : {0.3, 0.5, 0.6, 0.9}) {
    // Busy windows of nearly full resources are long, and their analysis slow.
    const std::uint64_t count = 1 + wanted / (utilisation > 0.6 ? 260 : 25);
    for (const SchedulingPolicy policy : all_policies)
      systems += compare({utilisation, policy}, count).systems;
    systems += compare({utilisation}, count).systems;
  }
  EXPECT_GT(systems, static_cast<std::int64_t>(wanted / 2));  // few are overloaded
}

/// Each task of a flow on another resource: nearly all bounds are nearly reached.
TEST(Agreement, bounds_of_usual_systems_are_tight) {
  const std::uint64_t count = number_in("MILLRACE_REALTIME_SYSTEMS", 2400) / 40;
  for (const double utilisation : {0.3, 0.6}) {
    for (const SchedulingPolicy policy : all_policies)
      EXPECT_LT(compare({utilisation, policy, false}, count).mean(), 1.5) << to_text(policy);
    EXPECT_LT(compare({utilisation, std::nullopt, false}, count).mean(), 1.5);
  }
  compare({0.9, std::nullopt, false}, count);
}

}  // namespace
}  // namespace millrace::realtime
