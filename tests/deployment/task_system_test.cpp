#include <gtest/gtest.h>

#include "realtime/analysis.h"
#include "support/message_of.h"
#include "support/sample_deployment.h"

namespace millrace::deployment {
namespace {

using namespace millrace::test;

TEST(task_system, has_the_active_groups_as_flows_and_times_by_clock) {
  const Deployment deployment = sample_deployment(sample_network());
  const realtime::TaskSystem one =
      task_system(deployment, sample_board(), {system::ScenarioId(0), 0, {{"cpu", {500}}}});
  ASSERT_EQ(one.flows.size(), 1u);
  EXPECT_EQ(one.flows[0].events.period, ms(200));
  EXPECT_EQ(one.flows[0].deadline, ms(199));
  EXPECT_EQ(one.tasks[0].worst, ms(6));
  EXPECT_EQ(one.tasks[2].worst, ms(5));
  EXPECT_EQ(one.tasks[2].kernels, (std::vector{ms(2), ms(3)}));
  EXPECT_EQ(one.resources[2].policy, realtime::SchedulingPolicy::fifo_by_kernel);
  EXPECT_EQ(realtime::analyse(one).flows[0].response, ms(6 + 20 + 5));
}

TEST(task_system, refuses_a_clock_that_the_board_lacks) {
  const Deployment deployment = sample_deployment(sample_network());
  EXPECT_EQ(millrace::test::message_of([&] {
              task_system(deployment, sample_board(), {system::ScenarioId(0), 0, {{"gpu", {500}}}});
            }),
            "device 'gpu': it has no clock of 500 MHz");
}

TEST(check, refuses_frames_that_wait_for_each_other_inside_a_plan) {
  Deployment deployment = sample_deployment(sample_network());
  deployment.system.groups[1].deadline = ms(90);  // of a period of 50 ms
  EXPECT_NO_THROW(check(deployment));
  Deployment several = deployment;
  Assignment& assignment = several.assignments[1];
  Task second = assignment.tasks[2];
  second.name = "stage1.1";
  second.phase = 1;
  second.after = {2};
  assignment.tasks.push_back(second);
  assignment.plan.plan.stages[1].phases.resize(2);
  EXPECT_EQ(
      millrace::test::message_of([&] { check(several); }),
      "group 'b': its deadline is longer than its period, and a stage of its plan has several "
      "phases, so that a frame may wait for the one before it; shorten the deadline, or use a "
      "plan whose stages have one phase each");
  several.system.groups[1].deadline = ms(50);
  EXPECT_NO_THROW(check(several));
  deployment.system.groups[1].deadline = ms(170);
  EXPECT_EQ(
      millrace::test::message_of([&] { check(deployment); }),
      "group 'b': its deadline lets 4 frames be on their way, and a channel of its plan holds "
      "2; shorten the deadline to 2 periods at most");
}

TEST(setting_for, takes_the_slowest_that_is_fast_enough) {
  Deployment deployment = sample_deployment(sample_network());
  EXPECT_EQ(setting_for(deployment, system::ScenarioId(1), 0)->level, 1);
  EXPECT_EQ(setting_for(deployment, system::ScenarioId(0), 0)->level, 0);
  EXPECT_EQ(setting_for(deployment, system::ScenarioId(0), 1), nullptr);
}

}  // namespace
}  // namespace millrace::deployment
