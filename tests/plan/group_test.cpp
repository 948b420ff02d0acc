#include "plan/group.h"

#include <gtest/gtest.h>

namespace millrace::plan {
namespace {

Group group_of(const std::vector<std::int64_t>& batches) {
  Stage stage;
  for (const std::int64_t batch : batches) stage.phases.push_back({.layers = {}, .batch = batch});
  return Group(stage);
}

/// "0:3 0:4 1:3+2": phase, frame and number of frames of each step.
std::string steps_of(Group& group) {
  std::string text;
  while (const auto step = group.next()) {
    text += std::to_string(step->phase) + ":" + std::to_string(step->frame);
    if (step->count > 1) text += "+" + std::to_string(step->count);
    text += " ";
    group.end(*step);
  }
  return text;
}

TEST(Group, gathers_for_a_phase_with_a_batch) {
  Group group = group_of({1, 2, 1});
  EXPECT_EQ(group.most(), 2);
  EXPECT_FALSE(group.next());
  group.take(6, 2);
  EXPECT_EQ(steps_of(group), "0:6 0:7 1:6+2 2:6 2:7 ");
}

TEST(Group, later_phases_go_first) {
  Group group = group_of({1, 2, 4});
  group.take(0, 4);
  EXPECT_EQ(steps_of(group), "0:0 0:1 1:0+2 0:2 0:3 1:2+2 2:0+4 ");
}

TEST(Group, of_fewer_frames_waits_for_no_others) {
  Group group = group_of({1, 4, 2});
  group.take(10, 3);
  EXPECT_EQ(steps_of(group), "0:10 0:11 0:12 1:10+3 2:10+2 2:12 ");
  group.take(13, 1);
  EXPECT_EQ(steps_of(group), "0:13 1:13 2:13 ");
}

TEST(Group, a_state_of_rest_does_not_tell_what_was) {
  Group group = group_of({1, 2});
  std::vector<std::int64_t> before, between, after;
  group.add_state(before, 0);
  group.take(6, 2);
  group.add_state(between, 5);
  steps_of(group);
  group.add_state(after, 8);
  EXPECT_EQ(before, after);
  EXPECT_EQ(between, (std::vector<std::int64_t>{1, 2, 0, 0}));
}

}  // namespace
}  // namespace millrace::plan
