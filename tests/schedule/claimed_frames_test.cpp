#include <gtest/gtest.h>

#include "schedule/firing.h"

namespace millrace::schedule {
namespace {

ClaimedFrames claimed_by(const std::vector<std::int64_t>& batches) {
  Actor actor;
  for (const std::int64_t batch : batches) actor.phases.push_back({.batch = batch});
  return ClaimedFrames(actor);
}

/// "0:3 0:4 1:3+2": phase, frame and number of frames of each firing.
std::string firings_of(ClaimedFrames& claimed) {
  std::string text;
  while (const auto firing = claimed.next()) {
    text += std::to_string(firing->phase) + ":" + std::to_string(firing->frame);
    if (firing->count > 1) text += "+" + std::to_string(firing->count);
    text += " ";
    claimed.end(*firing);
  }
  return text;
}

TEST(ClaimedFrames, wait_for_a_batch) {
  ClaimedFrames claimed = claimed_by({1, 2, 1});
  EXPECT_EQ(claimed.most(), 2);
  EXPECT_FALSE(claimed.next());
  claimed.claim(6, 2);
  EXPECT_EQ(firings_of(claimed), "0:6 0:7 1:6+2 2:6 2:7 ");
}

TEST(ClaimedFrames, later_phases_go_first) {
  ClaimedFrames claimed = claimed_by({1, 2, 4});
  claimed.claim(0, 4);
  EXPECT_EQ(firings_of(claimed), "0:0 0:1 1:0+2 0:2 0:3 1:2+2 2:0+4 ");
}

TEST(ClaimedFrames, of_fewer_frames_waits_for_no_others) {
  ClaimedFrames claimed = claimed_by({1, 4, 2});
  claimed.claim(10, 3);
  EXPECT_EQ(firings_of(claimed), "0:10 0:11 0:12 1:10+3 2:10+2 2:12 ");
  claimed.claim(13, 1);
  EXPECT_EQ(firings_of(claimed), "0:13 1:13 2:13 ");
}

TEST(ClaimedFrames, a_state_of_rest_does_not_tell_what_was) {
  ClaimedFrames claimed = claimed_by({1, 2});
  std::vector<std::int64_t> before, between, after;
  claimed.add_state(before, 0);
  claimed.claim(6, 2);
  claimed.add_state(between, 5);
  firings_of(claimed);
  claimed.add_state(after, 8);
  EXPECT_EQ(before, after);
  EXPECT_EQ(between, (std::vector<std::int64_t>{1, 2, 0, 0}));
}

}  // namespace
}  // namespace millrace::schedule
