#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/controller/controlled_system.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;
using test::ControlledSystem;
using test::expect_none_lost;
using test::run;

/// Of 15 layers a frame takes 15 ms on its core, each 20 ms; its worst time is said to be less.
ControlledSystem too_long(Time said) {
  ControlledSystem system({{.layers = 1, .fps = 25}, {.layers = 15, .fps = 50}});
  for (deployment::Task& task : system.deployment.assignments[1].tasks)
    task.worst = task.average = task.best = said;
  return system;
}

TEST(Controller, a_budget_makes_frames_wait_for_what_earlier_ones_took_too_much) {
  ControlledSystem system = too_long(3ms);
  const ControllerRecord without = run(system, 600ms);
  EXPECT_EQ(without.groups[1].frames.held, 0);
  EXPECT_EQ(without.groups[1].overruns, 0);
  system.deployment.system.groups[1].budget = {.time = 5ms};  // 15 are those of three periods
  const ControllerRecord record = run(system, 600ms);
  expect_none_lost(record);
  const GroupRecord& group = record.groups[1];
  EXPECT_GE(group.frames.released, 8);
  EXPECT_LE(group.frames.released, 11);  // of 30
  EXPECT_GE(group.frames.held, 5);
  EXPECT_GE(group.frames.longest_held, 20ms);
  EXPECT_GE(group.overruns, 5);
  EXPECT_GE(group.longest_overrun, 9ms);
  EXPECT_EQ(record.groups[0].overruns, 0);
}

TEST(Controller, a_budget_that_is_enough_holds_nothing_back) {
  ControlledSystem system = too_long(15ms);
  system.deployment.system.groups[1].budget = {.time = 18ms};
  const ControllerRecord record = run(system, 400ms);
  expect_none_lost(record);
  EXPECT_EQ(record.groups[1].frames.held, 0);
  EXPECT_LE(record.groups[1].overruns, 1);
}

TEST(Controller, a_budget_bounds_how_often_an_aperiodic_group_takes_its_core) {
  ControlledSystem system({{.layers = 1, .fps = 25}, {.layers = 4, .fps = 400}});
  for (deployment::Task& task : system.deployment.assignments[1].tasks)
    task.worst = task.average = task.best = 6ms;
  system.deployment.system.groups[1].events.aperiodic = true;
  system.deployment.system.groups[1].budget = {.time = 13ms, .every = 50ms};
  const ControllerRecord record = run(system, 500ms);
  expect_none_lost(record);
  const GroupRecord& group = record.groups[1];
  EXPECT_GE(group.frames.due, 100);
  EXPECT_LE(group.frames.released, 22);  // two each 50 ms
  EXPECT_GE(group.frames.released, 16);
  EXPECT_EQ(group.frames.missed, 0);  // they count from when they begin
  EXPECT_GE(group.frames.longest_held, 300ms);
}

}  // namespace
}  // namespace millrace::runtime
