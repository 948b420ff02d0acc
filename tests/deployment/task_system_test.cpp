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

TEST(setting_for, takes_the_slowest_that_is_fast_enough) {
  Deployment deployment = sample_deployment(sample_network());
  EXPECT_EQ(setting_for(deployment, system::ScenarioId(1), 0)->level, 1);
  EXPECT_EQ(setting_for(deployment, system::ScenarioId(0), 0)->level, 0);
  EXPECT_EQ(setting_for(deployment, system::ScenarioId(0), 1), nullptr);
}

}  // namespace
}  // namespace millrace::deployment
