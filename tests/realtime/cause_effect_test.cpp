#include "realtime/cause_effect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "base/trace.h"
#include "random_system.h"
#include "realtime/analysis.h"
#include "realtime/simulate.h"
#include "realtime/utilisation.h"

namespace millrace::realtime {
namespace {

struct Job {
  Time activated{}, begin{}, end{};
  std::int64_t origin = -1;  // the first flow's job whose value it uses; -1: none
};
using Jobs = std::vector<Job>;  // in the order in which they were activated

/// The jobs of a flow that have ended, up to the first that has not.
Jobs jobs_of(const Trace& trace, std::size_t flow) {
  std::map<std::int64_t, Job> jobs;
  for (const TraceFrame& frame : trace.frames)
    if (frame.plan == flow) jobs[frame.frame] = {frame.released, Time::max(), frame.completed};
  for (const TraceFiring& firing : trace.firings)
    if (const auto job = jobs.find(firing.frame);
        trace.stages[firing.stage].plan == flow && job != jobs.end())
      job->second.begin = std::min(job->second.begin, firing.begin);
  Jobs result;
  for (const auto& [number, job] : jobs) {
    if (number != static_cast<std::int64_t>(result.size())) break;
    result.push_back(job);
    result.back().begin = std::min(job.begin, job.end);  // what takes no time leaves no firing
  }
  return result;
}

/// Each reads the newest value that was written before it began.
void read_newest(const Jobs& writers, Jobs& readers) {
  for (Job& reader : readers)
    for (const Job& writer : writers)
      if (writer.end <= reader.begin) reader.origin = std::max(reader.origin, writer.origin);
}

/// Each takes one value, in order, and keeps the last one while there is no other.
void read_in_order(const Jobs& writers, Jobs& readers) {
  std::size_t next = 0;
  std::int64_t origin = -1;
  for (Job& reader : readers) {
    if (next < writers.size() && writers[next].end <= reader.begin) origin = writers[next++].origin;
    reader.origin = origin;
  }
}

ChainBounds seen_in(const Trace& trace, const std::vector<std::size_t>& chain, bool in_order) {
  Jobs before = jobs_of(trace, chain.front());
  for (std::size_t j = 0; j < before.size(); ++j) before[j].origin = static_cast<std::int64_t>(j);
  const Jobs first = before;
  Time horizon = Time::max();  // from here on, some flow is activated no more
  for (const std::size_t flow : chain) {
    Jobs jobs = jobs_of(trace, flow);
    horizon = std::min(horizon, jobs.empty() ? Time{} : jobs.back().activated);
    if (flow == chain.front()) continue;
    in_order ? read_in_order(before, jobs) : read_newest(before, jobs);
    before = std::move(jobs);
  }
  ChainBounds seen{Time{}, Time{}};
  std::ranges::sort(before, {}, &Job::end);
  std::int64_t known = -1;  // to an output
  for (const Job& job : before) {
    if (job.origin < 0 || job.begin > horizon) continue;
    seen.age = std::max(*seen.age, job.end - first[static_cast<std::size_t>(job.origin)].activated);
    // What changed just after an earlier activation is known from here on.
    if (known >= 0 && job.origin > known)
      seen.reaction =
          std::max(*seen.reaction, job.end - first[static_cast<std::size_t>(known)].activated);
    known = std::max(known, job.origin);
  }
  return seen;
}

struct Tried {
  int bounded = 0;
  double closest = 0;  // the largest age as a share of its bound
};

Tried compare(int systems, std::uint64_t seed, bool in_order) {
  Random random(seed);
  Tried tried;
  for (int i = 0; i < systems; ++i) {
    TaskSystem system = random_system(random, {.is_wild = false});
    if (system.flows.size() < 2) continue;
    for (Flow& flow : system.flows)
      if (in_order) flow.events = {.period = flow.events.period};
    std::vector<std::size_t> chain(system.flows.size());
    for (std::size_t f = 0; f < chain.size(); ++f) chain[f] = f;
    for (std::size_t f = chain.size(); f > 1; --f) std::swap(chain[f - 1], chain[random.below(f)]);
    // A queue is read at least as often as it is written.
    if (in_order)
      std::ranges::sort(chain, std::greater<>{},
                        [&](std::size_t f) { return system.flows[f].events.period; });
    if (std::ranges::any_of(utilisations(system), &Utilisation::is_overloaded)) continue;
    const Bounds bounds = analyse(system);
    std::vector<ChainPart> parts;
    for (const std::size_t f : chain)
      parts.push_back({longest_gap(system.flows[f].events), bounds.flows[f].response});
    const bool is_bounded = std::ranges::all_of(
        parts, [](const ChainPart& part) { return part.gap && part.response != unbounded; });
    if (!is_bounded) continue;
    ++tried.bounded;
    const ChainBounds bound = chain_bounds(parts);
    for (int run = 0; run < 4; ++run) {
      Scenario scenario = critical_scenario(system, random.below(1'000'000));
      Time longest{};
      for (const Flow& flow : system.flows) longest = std::max(longest, flow.events.period);
      scenario.span = 12 * longest;
      for (std::size_t f = 0; f < system.flows.size(); ++f) {
        scenario.flows[f].phase = Time(static_cast<std::int64_t>(
            random.below(static_cast<std::uint64_t>(system.flows[f].events.period.count()))));
        scenario.flows[f].lateness = Scenario::Lateness::any;
      }
      for (auto& execution : scenario.executions)
        execution = run % 2 == 0 ? Scenario::Execution::worst : Scenario::Execution::any;
      Trace trace;
      run_scenario(system, scenario, &trace);
      const ChainBounds seen = seen_in(trace, chain, in_order);
      EXPECT_LE(*seen.age, *bound.age) << "system " << i << " of seed " << seed;
      EXPECT_LE(*seen.reaction, *bound.reaction) << "system " << i << " of seed " << seed;
      tried.closest = std::max(tried.closest, static_cast<double>(seen.age->count()) /
                                                  static_cast<double>(bound.age->count()));
    }
  }
  return tried;
}

TEST(CauseEffect, no_bound_is_below_what_a_simulation_shows) {
  const Tried tried = compare(300, 66, false);
  EXPECT_GT(tried.bounded, 80);
  EXPECT_GT(tried.closest, 0.5);
}

TEST(CauseEffect, nor_where_values_are_read_in_order) {
  const Tried tried = compare(300, 67, true);
  EXPECT_GT(tried.bounded, 100);
  EXPECT_GT(tried.closest, 0.5);
}

// A sensor each 10 ms, a filter each 20 ms, a motor each 5 ms; each alone on its processor.
TEST(CauseEffect, a_chain_by_hand) {
  const std::vector<ChainPart> parts{{Time(10), Time(2)}, {Time(20), Time(3)}, {Time(5), Time(1)}};
  const ChainBounds bounds = chain_bounds(parts);
  EXPECT_EQ(bounds.age, Time(10 + 2 + 20 + 3 + 1));
  EXPECT_EQ(bounds.reaction, Time(10 + 2 + 20 + 3 + 5 + 1));
}

TEST(CauseEffect, nobody_knows_when_a_sporadic_flow_comes_again) {
  const EventModel sporadic{.period = Time(10), .sporadic = true};
  EXPECT_EQ(longest_gap(sporadic), std::nullopt);
  const std::vector<ChainPart> last{{Time(10), Time(2)}, {std::nullopt, Time(3)}};
  EXPECT_EQ(chain_bounds(last).age, Time(15));
  EXPECT_EQ(chain_bounds(last).reaction, std::nullopt);
  const std::vector<ChainPart> first{{std::nullopt, Time(2)}, {Time(10), Time(3)}};
  EXPECT_EQ(chain_bounds(first).age, std::nullopt);
}

TEST(CauseEffect, jitter_and_bursts_lengthen_gaps) {
  EXPECT_EQ(longest_gap({.period = Time(10), .jitter = Time(4)}), Time(14));
  EXPECT_EQ(longest_gap({.period = Time(30), .burst = 3, .burst_distance = Time(2)}), Time(26));
}

}  // namespace
}  // namespace millrace::realtime
