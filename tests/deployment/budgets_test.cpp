#include "deployment/budgets.h"

#include <gtest/gtest.h>

#include "support/releasing_deployment.h"

namespace millrace::deployment {
namespace {

using namespace millrace::test;
using system::GroupId, system::ScenarioId;

TEST(budgets, give_whole_frames_the_same_part) {
  const FrameBudget one = frame_budget({.time = ms(8)}, ms(50), ms(6));
  EXPECT_EQ(one.limit, (realtime::ActivationLimit{1, ms(50)}));
  EXPECT_EQ(one.frame, ms(8));
  EXPECT_DOUBLE_EQ(one.growth, 8.0 / 6);
  const FrameBudget two = frame_budget({.time = ms(8)}, ms(50), ms(3));
  EXPECT_EQ(two.limit, (realtime::ActivationLimit{2, ms(50)}));
  EXPECT_EQ(two.frame, ms(4));
}

TEST(budgets, that_are_less_than_a_frame_let_one_begin_in_several_times) {
  const FrameBudget budget = frame_budget({.time = ms(8)}, ms(50), ms(20));
  EXPECT_EQ(budget.limit, (realtime::ActivationLimit{1, ms(150)}));
  EXPECT_EQ(budget.frame, ms(20));
  EXPECT_EQ(budget.growth, 1);
}

TEST(budgets, are_whole_at_both_ends) {
  EXPECT_EQ(frame_budget({.time = ms(1000)}, ms(50), Time{1}).limit.events,
            most_frames_of_a_budget);
  const Time longest = std::chrono::hours(277);
  const FrameBudget least = frame_budget({.time = Time{1000}}, longest, ms(50));
  EXPECT_GT(least.limit.every, Time{});
}

TEST(budgets, are_all_used_in_the_task_system) {
  Deployment deployment = releasing_deployment(ms(1));
  deployment.system.groups[0].budget = {.time = ms(14), .every = ms(40)};  // two frames of 5
  const auto tasks = task_system(deployment, sample_board(), {ScenarioId(0), 0});
  EXPECT_EQ(tasks.flows[0].limit, (realtime::ActivationLimit{2, ms(40)}));
  EXPECT_EQ(tasks.flows[0].events.period, ms(20));
  EXPECT_EQ(tasks.tasks[0].worst, ms(7));
  EXPECT_EQ(tasks.tasks[1].worst, ms(30));
  EXPECT_EQ(tasks.flows[2].limit, tasks.flows[0].limit);  // its releases
  const auto slow = task_system(deployment, sample_board(), {ScenarioId(0), 0, {{"cpu", {500}}}});
  EXPECT_EQ(slow.tasks[0].worst, ms(14));
  EXPECT_EQ(slow.flows[0].limit, tasks.flows[0].limit);
}

TEST(budgets, of_aperiodic_groups_are_all_that_is_known) {
  Deployment deployment = releasing_deployment({});
  deployment.system.groups[0].events.aperiodic = true;
  deployment.system.groups[0].budget = {.time = ms(14), .every = ms(40)};
  const auto tasks = task_system(deployment, sample_board(), {ScenarioId(0), 0});
  EXPECT_FALSE(tasks.flows[0].limit);
  EXPECT_EQ(tasks.flows[0].events, realtime::limited_events({2, ms(40)}));
  EXPECT_EQ(tasks.flows[0].deadline, ms(40));
}

}  // namespace
}  // namespace millrace::deployment
