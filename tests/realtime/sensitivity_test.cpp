#include "realtime/sensitivity.h"

#include <gtest/gtest.h>

namespace millrace::realtime {
namespace {

TaskSystem pair(Time deadline) {
  TaskSystem system;
  const ResourceId r = system.add_resource({"r"});
  const FlowId fast =
      system.add_flow({.name = "fast", .events = {.period = Time{1000}}, .deadline = Time{1000}});
  const FlowId slow =
      system.add_flow({.name = "slow", .events = {.period = Time{2000}}, .deadline = deadline});
  system.add_task(fast, {.name = "a", .resource = r, .worst = Time{200}, .priority = 1});
  system.add_task(slow, {.name = "b", .resource = r, .worst = Time{300}});
  return system;
}

TEST(Sensitivity, the_next_larger_factor_misses_a_deadline) {
  const TaskSystem system = pair(Time{1000});
  const auto growth = largest_growth(system);
  ASSERT_TRUE(growth);
  EXPECT_EQ(*growth, 2'000'000);  // 400 + 600
  EXPECT_TRUE(is_schedulable(system, analyse(scaled(system, *growth))));
  const TaskSystem more = scaled(system, *growth + 1);
  EXPECT_FALSE(is_schedulable(more, analyse(more)));
}

TEST(Sensitivity, a_system_that_misses_says_how_much_faster_it_must_be) {
  const auto growth = largest_growth(pair(Time{250}));
  ASSERT_TRUE(growth);
  EXPECT_EQ(*growth, 500'000);
}

TEST(Sensitivity, one_task_may_grow_until_a_deadline_is_met_exactly) {
  const TaskSystem system = pair(Time{1000});
  EXPECT_EQ(largest_time(system, TaskId(1)), Time{800});
  EXPECT_EQ(largest_time(system, TaskId(0)), Time{700});
}

TEST(Sensitivity, without_a_deadline_there_is_no_limit_to_find) {
  TaskSystem system = pair(Time{1000});
  for (Flow& flow : system.flows) flow.deadline.reset();
  EXPECT_FALSE(largest_growth(system));
}

/// 1 and 2 of a chain, and 1 of another flow, every 40: ten times as much fills the resource.
TEST(Sensitivity, growth_of_a_chain_ends_near_a_full_resource) {
  TaskSystem system;
  const ResourceId core = system.add_resource({"core"});
  const Time period = std::chrono::milliseconds(40), unit = std::chrono::milliseconds(1);
  const FlowId chain =
      system.add_flow({.name = "chain", .events = {.period = period}, .deadline = period});
  const TaskId first = system.add_task(
      chain, {.name = "a", .resource = core, .worst = unit, .best = unit, .priority = 1});
  system.add_task(chain, {.name = "b",
                          .resource = core,
                          .worst = 2 * unit,
                          .best = unit,
                          .after = {first},
                          .priority = 1});
  const FlowId other =
      system.add_flow({.name = "other", .events = {.period = period}, .deadline = period});
  system.add_task(
      other, {.name = "c", .resource = core, .worst = unit, .best = unit, .priority = 2});
  const auto growth = largest_growth(system);
  ASSERT_TRUE(growth);
  EXPECT_GE(*growth, 9'990'000);
  EXPECT_LE(*growth, 10'000'000);
}

}  // namespace
}  // namespace millrace::realtime
