#include "realtime/event_model.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace millrace::realtime {
namespace {

TEST(EventModel, distances_follow_period_and_jitter) {
  const EventModel events{.period = Time{10}, .jitter = Time{99}};
  for (int n = 1; n <= 10; ++n) EXPECT_EQ(events.distance(n), Time{0}) << n;
  EXPECT_EQ(events.distance(11), Time{1});
  EXPECT_EQ(events.distance(12), Time{11});
}

TEST(EventModel, windows_do_not_contain_their_end) {
  const EventModel periodic{.period = Time{10}};
  EXPECT_EQ(periodic.events_within(Time{0}), 0);
  EXPECT_EQ(periodic.events_within(Time{10}), 1);
  EXPECT_EQ(periodic.events_within(Time{11}), 2);
  EXPECT_EQ(periodic.events_up_to(Time{10}), 2);
  const EventModel late{.period = Time{10}, .jitter = Time{16}};
  EXPECT_EQ(late.events_within(Time{4}), 2);
  EXPECT_EQ(late.events_within(Time{5}), 3);
}

TEST(EventModel, a_window_without_end_has_no_number_of_events) {
  const EventModel events{.period = Time{10}, .jitter = Time{16}};
  EXPECT_THROW(events.events_within(Time::max()), InputError);
}

TEST(EventModel, a_distance_spreads_what_jitter_brings_together) {
  const EventModel events{.period = Time{10}, .jitter = Time{40}, .min_distance = Time{3}};
  EXPECT_EQ(events.distance(4), Time{9});
  EXPECT_EQ(events.events_within(Time{9}), 3);
}

TEST(EventModel, bursts_repeat_each_period) {
  const EventModel events{.period = Time{17}, .burst = 5, .burst_distance = Time{1}};
  EXPECT_EQ(events.distance(5), Time{4});
  EXPECT_EQ(events.distance(6), Time{17});
  EXPECT_EQ(events.events_within(Time{4}), 4);
  EXPECT_EQ(events.events_within(Time{18}), 6);
}

TEST(EventModel, counts_are_the_inverse_of_distances) {
  const EventModel events{.period = Time{17},
                          .jitter = Time{23},
                          .min_distance = Time{1},
                          .burst = 3,
                          .burst_distance = Time{2}};
  for (int n = 2; n < 40; ++n) {
    EXPECT_LT(events.events_within(events.distance(n)), n) << n;
    EXPECT_GE(events.events_up_to(events.distance(n)), n) << n;
  }
}

}  // namespace
}  // namespace millrace::realtime
