// What comes out, against what can be worked out by hand.
#include "simulate/simulate.h"

#include <gtest/gtest.h>

#include "applications.h"
#include "support/message_of.h"

namespace millrace::simulate {
namespace {

using namespace test;
using millrace::test::message_of;

TEST(Simulate, a_pipeline_kept_full_runs_at_its_slowest_stage) {
  Application application = chain({10ms, 6ms});
  application.frames = 100;
  const Result result = run({application});
  EXPECT_EQ(result.elapsed, 1000ms);
  EXPECT_DOUBLE_EQ(result.applications[0].throughput(), 100);
  EXPECT_EQ(result.applications[0].frames, 100);
  EXPECT_EQ(result.processors[0].busy, 1000ms);
  EXPECT_EQ(result.processors[1].busy, 600ms);
}

TEST(Simulate, the_trace_has_the_borders_at_the_ends_of_firings_whatever_cuts_them) {
  Application first = alone("first", 10ms, every(20ms), 5);
  Application second = alone("second", 1ms, every(7ms));  // cuts the first, also within its border
  first.borders = {{{3ms, 4ms}}};
  first.priority = 1;
  first.frames = 1;
  second.frames = 3;
  for (const Policy policy : {Policy::preemptive, Policy::fifo_by_kernel}) {
    const Result result = run({first, second}, {.others = {.policy = policy}, .traced_frames = 3});
    Time in{}, out{}, work{};
    std::size_t pieces = 0;
    for (const TraceFiring& firing : result.trace.firings) {
      if (result.trace.stages[firing.stage].plan != 0 || firing.frame != 0) continue;
      ++pieces;
      in += firing.in;
      out += firing.out;
      work += firing.end - firing.begin;
      EXPECT_LE(firing.in + firing.out, firing.end - firing.begin);
    }
    EXPECT_GT(pieces, 1u);
    EXPECT_EQ(in, 3ms);
    EXPECT_EQ(out, 4ms);
    EXPECT_EQ(work, 10ms);
  }
}

TEST(Simulate, with_one_frame_on_its_way_stages_take_turns) {
  Application application = chain({10ms, 6ms});
  application.release.in_flight = 1;
  const ApplicationResult result = run({application}).applications[0];
  EXPECT_EQ(result.latencies.minimum(), 16ms);
  EXPECT_EQ(result.latencies.maximum(), 16ms);
  ASSERT_TRUE(result.steady);
  EXPECT_EQ(result.steady->span, 16ms * result.steady->frames);
}

TEST(Simulate, a_periodic_frame_that_waits_for_no_other_takes_the_sum_of_its_stages) {
  Application application = chain({10ms, 6ms});
  application.release = every(20ms);
  const ApplicationResult result = run({application}).applications[0];
  EXPECT_EQ(result.latencies.minimum(), 16ms);
  EXPECT_EQ(result.latencies.maximum(), 16ms);
  EXPECT_NEAR(result.throughput(), 50, 0.1);
}

TEST(Simulate, frames_that_come_too_fast_wait_in_front_of_the_pipeline) {
  Application application = chain({10ms, 6ms});
  application.release = every(8ms);
  application.frames = 1000;
  const ApplicationResult result = run({application}).applications[0];
  EXPECT_EQ(result.latencies.maximum(), 16ms + 999 * 2ms);  // each waits 2 ms more than the last
  EXPECT_EQ(result.latencies.minimum(), 16ms);
}

TEST(Simulate, jitter_delays_frames_and_latency_counts_from_when_they_come) {
  Application application = chain({1ms});
  application.release = {.arrivals = Arrivals::periodic, .period = 10ms, .jitter = 9ms};
  application.frames = 2000;
  const ApplicationResult result = run({application}).applications[0];
  EXPECT_EQ(result.latencies.maximum(), 1ms);  // at least 1 ms lies between any two
  application.release.jitter = 20ms;
  const ApplicationResult late = run({application}).applications[0];
  EXPECT_GT(late.latencies.maximum(), 1ms);
  EXPECT_NEAR(late.throughput(), 100, 1);
}

/// Pollaczek and Khinchine: frames that come at random to one server with a fixed time D wait
/// D u / (2 (1 - u)) on the average, if it is busy for the share u.
TEST(Simulate, random_arrivals_wait_as_queueing_theory_says) {
  for (const auto& [period, latency_ms] :
       {std::pair<Time, double>(2ms, 1.5), std::pair<Time, double>(1250us, 1 + 0.8 / 0.4)}) {
    Application application = chain({1ms});
    application.release = {.arrivals = Arrivals::poisson, .period = period};
    application.frames = 500'000;
    const ApplicationResult result = run({application}).applications[0];
    EXPECT_NEAR(milliseconds(result.latencies.mean()), latency_ms, 0.03 * latency_ms);
    EXPECT_NEAR(result.throughput(), 1 / seconds(period), 0.01 / seconds(period));
  }
}

TEST(Simulate, drawn_times_lie_between_best_and_worst_and_average_in_the_middle) {
  Application application = chain({10ms});
  application.durations = {{{8ms, 14ms}}};
  application.frames = 20'000;
  application.release = every(20ms);
  const ApplicationResult result = run({application}).applications[0];
  EXPECT_GE(result.latencies.minimum(), 8ms);
  EXPECT_LE(result.latencies.maximum(), 14ms);
  EXPECT_NEAR(milliseconds(result.latencies.mean()), 11, 0.05);
  EXPECT_FALSE(result.steady);
}

TEST(Simulate, the_same_seed_gives_the_same_and_another_seed_another_result) {
  Application application = chain({10ms, 6ms});
  application.durations = {{{8ms, 14ms}}, {{5ms, 20ms}}};
  Options options{.processors = {}, .seed = 7, .traced_frames = 50};
  const Result first = run({application}, options), second = run({application}, options);
  EXPECT_EQ(first.trace, second.trace);
  EXPECT_EQ(first.elapsed, second.elapsed);
  options.seed = 8;
  EXPECT_NE(run({application}, options).elapsed, first.elapsed);
}

/// As the runtime does: nobody waits for frames that were not put in.
TEST(Simulate, a_batch_runs_with_the_frames_that_came_and_takes_as_long) {
  Application application = chain({5ms, 8ms}, {.capacity = 8, .batches = {1, 4}});
  ASSERT_EQ(application.plan.stages[1].phases[0].batch, 4);
  application.release = every(20ms);
  const ApplicationResult slow = run({application}).applications[0];
  EXPECT_EQ(slow.latencies.maximum(), 13ms);
  application.release = {};
  const ApplicationResult full = run({application}).applications[0];
  ASSERT_TRUE(full.steady);
  EXPECT_EQ(full.steady->span, 5ms * full.steady->frames);
}

TEST(Simulate, counts_the_frames_that_miss_their_deadline) {
  Application application = chain({10ms, 6ms});
  application.release = every(8ms);
  application.frames = 100;
  application.deadline = 30ms;  // 16 ms for frame 0, and 2 ms more for each
  const ApplicationResult result = run({application}).applications[0];
  EXPECT_EQ(result.first_missed, 8);
  EXPECT_EQ(result.missed, 92);
  application.deadline = 1s;
  EXPECT_EQ(run({application}).applications[0].missed, 0);
}

TEST(Simulate, energy_is_power_busy_and_idle_over_time) {
  Application application = chain({10ms, 6ms});
  application.frames = 100;
  Options options;
  options.processors["core0"] = {.busy_mw = 2000, .idle_mw = 500};
  options.processors["core1"] = {.busy_mw = 1000, .idle_mw = 100};
  const Result result = run({application}, options);
  EXPECT_DOUBLE_EQ(result.processors[0].energy_mj, 2000);
  EXPECT_DOUBLE_EQ(result.processors[1].energy_mj, 600 + 40);
}

TEST(Simulate, a_scale_makes_all_of_a_processor_slower) {
  Application application = chain({10ms, 6ms});
  application.release = every(50ms);
  Options options;
  options.processors["core1"] = {.scale = 2.5};
  EXPECT_EQ(run({application}, options).applications[0].latencies.maximum(), 25ms);
}

TEST(Simulate, the_trace_says_who_worked_on_what_when) {
  Application application = chain({10ms, 6ms});
  application.release = every(12ms);
  const Trace trace = run({application}, {.processors = {}, .traced_frames = 2}).trace;
  const std::vector<TraceFiring> firings{{0, 0, 0, 1, 0ms, 10ms},
                                         {1, 0, 0, 1, 10ms, 16ms},
                                         {0, 0, 1, 1, 12ms, 22ms},
                                         {1, 0, 1, 1, 22ms, 28ms}};
  EXPECT_EQ(trace.firings, firings);
  const std::vector<TraceFrame> frames{{0, 0, 0ms, 0ms, 16ms}, {0, 1, 12ms, 12ms, 28ms}};
  EXPECT_EQ(trace.frames, frames);
  EXPECT_EQ(trace.stages[1], (TraceStage{0, "stage1", "core1"}));
}

TEST(Simulate, refuses_what_makes_no_sense) {
  const auto message = [](auto change) {
    Application application = chain({10ms, 6ms});
    change(application);
    return message_of([&] { run({application}); });
  };
  EXPECT_EQ(message([](Application& a) { a.frames = 0; }),
            "net: found 0 frames to simulate, expected at least 1");
  EXPECT_EQ(message([](Application& a) { a.release = every(0ms); }),
            "net: found a period of 0 ns, expected one above 0");
  EXPECT_EQ(message([](Application& a) { a.release = every(-20ms); }),
            "net: found a period of -20.0 ms, expected one above 0");
  EXPECT_EQ(message([](Application& a) { a.durations = {a.durations[0]}; }),
            "net: has other phases than the times given for it");
  EXPECT_NE(message([](Application& a) {
              a.durations[0][0] = {2ms, 1ms};
            }).find("worst time"),
            std::string::npos);
  EXPECT_NE(message([](Application& a) { a.frames = 1'000'000'000'000; }).find("fewer frames"),
            std::string::npos);
}

TEST(Simulate, refuses_options_for_a_processor_that_no_plan_uses) {
  Options options;
  options.processors["core9"] = {};
  EXPECT_EQ(message_of([&] {
              run({chain({10ms, 6ms})}, options);
            }),
            "core9: no plan uses this processor; they use core0, core1");
}

TEST(Simulate, a_plan_without_times_is_told_how_to_get_some) {
  EXPECT_EQ(message_of([] {
              const plan::Plan plan = chain({10ms}).plan;
              predicted_durations(plan, plan::no_evidence(plan));
            }),
            "net: the plan has no times of its phases; make it again with 'millrace plan'");
}

}  // namespace
}  // namespace millrace::simulate
