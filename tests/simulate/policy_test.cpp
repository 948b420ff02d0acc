// Several plans on one processor, against schedules drawn by hand.
#include <gtest/gtest.h>

#include "applications.h"
#include "support/message_of.h"

namespace millrace::simulate {
namespace {

using namespace test;
using millrace::test::message_of;

Options with(Policy policy) {
  Options options;
  options.others.policy = policy;
  return options;
}

/// The urgent one interrupts: 0-2 A, 2-5 B, 5-7 A, 7-8 B.
TEST(Policy, preemptive_lets_the_urgent_plan_run_at_once) {
  Application a = alone("a", 2ms, every(5ms)), b = alone("b", 4ms, every(10ms));
  b.priority = 1;
  const Result result = run({a, b}, with(Policy::preemptive));
  EXPECT_EQ(result.applications[0].latencies.maximum(), 2ms);
  EXPECT_EQ(result.applications[1].latencies.minimum(), 8ms);
  EXPECT_EQ(result.applications[1].latencies.maximum(), 8ms);
}

TEST(Policy, an_interrupted_firing_is_in_the_trace_in_pieces) {
  Application a = alone("a", 2ms, every(5ms)), b = alone("b", 4ms, every(10ms));
  b.priority = 1;
  Options options = with(Policy::preemptive);
  options.traced_frames = 1;
  const std::vector<TraceFiring> firings{
      {0, 0, 0, 1, 0ms, 2ms}, {1, 0, 0, 1, 2ms, 5ms}, {1, 0, 0, 1, 7ms, 8ms}};
  EXPECT_EQ(run({a, b}, options).trace.firings, firings);
}

/// 0-2 A, 2-6 B, 6-8 A, which came at 5.
TEST(Policy, by_subnet_a_phase_runs_to_its_end) {
  Application a = alone("a", 2ms, every(5ms)), b = alone("b", 4ms, every(10ms));
  b.priority = 1;
  const Result result = run({a, b}, with(Policy::fifo_by_subnet));
  EXPECT_EQ(result.applications[0].latencies.minimum(), 2ms);
  EXPECT_EQ(result.applications[0].latencies.maximum(), 3ms);
  EXPECT_EQ(result.applications[1].latencies.maximum(), 6ms);
  EXPECT_NEAR(seconds(result.processors[0].busy) / seconds(result.elapsed), 0.8, 1e-3);
}

/// 0-1 A, 1-3 B's first layer, 3-4 A (came at 2.5), 4-6 B's second layer, 6-7 A (came at 5),
/// 7.5-8.5 A.
TEST(Policy, by_kernel_others_have_their_turn_between_two_layers) {
  const Application a = alone("a", 1ms, every(2500us)), b = alone("b", 4ms, every(10ms), 2);
  const Result by_kernel = run({a, b}, with(Policy::fifo_by_kernel));
  EXPECT_EQ(by_kernel.applications[0].latencies.maximum(), 2ms);
  EXPECT_EQ(by_kernel.applications[1].latencies.maximum(), 6ms);
  const Result by_subnet = run({a, b}, with(Policy::fifo_by_subnet));
  EXPECT_EQ(by_subnet.applications[0].latencies.maximum(), 3500us);
  EXPECT_EQ(by_subnet.applications[1].latencies.maximum(), 5ms);
}

TEST(Policy, first_come_plans_that_are_kept_full_take_turns) {
  const Result result = run({alone("a", 2ms, {}), alone("b", 6ms, {})});
  EXPECT_NEAR(result.applications[0].throughput(), 125, 1);
  EXPECT_NEAR(result.applications[1].throughput(), 125, 1);
}

TEST(Policy, a_plan_that_is_starved_ends_with_fewer_frames_and_not_never) {
  Application a = alone("a", 2ms, {}), b = alone("b", 2ms, {});
  b.priority = 1;
  const Result result = run({a, b}, with(Policy::preemptive));
  EXPECT_GE(result.applications[0].frames, 1000);
  EXPECT_EQ(result.applications[1].frames, 0);
}

TEST(Policy, plans_on_processors_of_their_own_do_not_disturb_each_other) {
  Application a = chain({10ms, 6ms}), b = chain({4ms, 3ms});
  b.name = "b";
  for (std::size_t s = 0; s < 2; ++s)
    b.plan.stages[s].processors[0] = {.name = fmt::format("core{}", s + 2),
                                      .cores = {static_cast<int>(s) + 2}};
  const Result result = run({a, b});
  EXPECT_NEAR(result.applications[0].throughput(), 100, 0.2);
  EXPECT_NEAR(result.applications[1].throughput(), 250, 0.5);
  EXPECT_EQ(result.processors.size(), 4u);
}

TEST(Policy, plans_of_different_boards_are_refused) {
  const Application a = alone("a", 2ms, {});
  Application b = alone("b", 2ms, {});
  b.plan.stages[0].processors[0].cores = {5};
  EXPECT_EQ(message_of([&] {
              run({a, b});
            }),
            "a: its processor core0 and core0 of b have one name but not the same cores; make the "
            "plans for one board");
  b.plan.stages[0].processors[0] = {.name = "cores0-1", .cores = {0, 1}};
  EXPECT_EQ(message_of([&] {
              run({a, b});
            }),
            "a: its processor core0 and cores0-1 of b share a core; make the plans for one board");
}

}  // namespace
}  // namespace millrace::simulate
