#include "realtime/fit_events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace millrace::realtime {
namespace {

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(
                     random.below(static_cast<std::uint64_t>(most - least + 1)));
}

/// What the model allows, by chance.
std::vector<Time> events_of(const EventModel& model, Random& random, std::size_t count) {
  std::vector<Time> events;
  Time due{between(random, 0, 100)};
  for (std::size_t n = 0; n < count; ++n) {
    Time comes = due + Time{between(random, 0, model.jitter.count())};
    if (!events.empty()) comes = std::max(comes, events.back() + model.min_distance);
    events.push_back(comes);
    const bool ends = static_cast<std::int64_t>(n) % model.burst == model.burst - 1;
    due += ends ? model.period - model.burst_distance * (model.burst - 1) : model.burst_distance;
    if (ends && model.sporadic) due += Time{between(random, 0, model.period.count())};
  }
  return events;
}

EventModel random_model(Random& random) {
  EventModel model;
  model.burst = between(random, 1, 4);
  model.period = Time{between(random, 20, 60)};
  model.burst_distance = model.burst > 1 ? Time{between(random, 0, 5)} : Time{};
  model.jitter = Time{between(random, 0, 90)};
  const Time least = model.burst > 1 ? model.burst_distance : model.period;
  model.min_distance = Time{between(random, 0, least.count())};
  model.sporadic = random.below(3) == 0;
  return model;
}

/// By every pair of events, which is what delta-minus says.
bool holds(const EventModel& model, const std::vector<Time>& events) {
  for (std::size_t j = 0; j < events.size(); ++j)
    for (std::size_t i = 0; i < j; ++i)
      if (events[j] - events[i] < model.distance(static_cast<std::int64_t>(j - i) + 1))
        return false;
  return true;
}

TEST(fit_events, finds_the_period_of_periodic_events) {
  const std::vector<Time> events{Time{5}, Time{15}, Time{25}, Time{35}};
  EXPECT_EQ(fit_events(events), (EventModel{.period = Time{10}, .min_distance = Time{10}}));
}

TEST(fit_events, finds_the_least_jitter) {
  const std::vector<Time> events{Time{0}, Time{13}, Time{20}, Time{31}};
  EXPECT_EQ(fit_events(events),
            (EventModel{.period = Time{10}, .jitter = Time{3}, .min_distance = Time{7}}));
}

TEST(fit_events, bounds_what_came) {
  Random random(3);
  for (int n = 0; n < 2000; ++n) {
    const auto count = static_cast<std::size_t>(between(random, 2, 40));
    const std::vector<Time> events = events_of(random_model(random), random, count);
    const EventModel model = fit_events(events);
    ASSERT_TRUE(holds(model, events)) << n;
    ASSERT_FALSE(first_too_close(model, events)) << n;
    ASSERT_FALSE(first_too_late(model, events)) << n;
    for (const Time other : {model.period - Time{1}, model.period + Time{1}}) {
      // No period beside it needs less jitter.
      if (other < Time{1}) continue;
      Time least = Time::max(), most = Time::min();
      for (std::size_t e = 0; e < events.size(); ++e) {
        least = std::min(least, events[e] - other * static_cast<std::int64_t>(e));
        most = std::max(most, events[e] - other * static_cast<std::int64_t>(e));
      }
      ASSERT_GE(most - least, model.jitter) << n;
    }
  }
}

TEST(first_too_close, is_where_a_pair_of_events_says_so) {
  Random random(4);
  int broken = 0;
  for (int n = 0; n < 4000; ++n) {
    const EventModel model = random_model(random);
    std::vector<Time> events = events_of(model, random, 30);
    ASSERT_FALSE(first_too_close(model, events)) << n;
    for (int moved = 0; moved < 2; ++moved)
      events[random.below(events.size())] -= Time{between(random, 0, 30)};
    std::ranges::sort(events);
    const auto found = first_too_close(model, events);
    ASSERT_EQ(holds(model, events), !found.has_value()) << n;
    if (!found) continue;
    ++broken;
    const std::vector<Time> before(events.begin(),
                                   events.begin() + static_cast<std::ptrdiff_t>(found->event));
    ASSERT_TRUE(holds(model, before)) << n;
    ASSERT_EQ(found->found, events[found->event] - events[found->since]) << n;
    ASSERT_EQ(found->allowed,
              model.distance(static_cast<std::int64_t>(found->event - found->since) + 1))
        << n;
    ASSERT_LT(found->found, found->allowed) << n;
  }
  EXPECT_GT(broken, 1000);
}

TEST(first_too_late, finds_a_gap_that_no_jitter_explains) {
  const EventModel model{.period = Time{10}, .jitter = Time{2}};
  EXPECT_FALSE(first_too_late(model, std::vector<Time>{Time{0}, Time{12}, Time{20}}));
  EXPECT_EQ(first_too_late(model, std::vector<Time>{Time{0}, Time{13}}),
            (Breach{1, 0, Time{13}, Time{12}, true}));
  EXPECT_FALSE(first_too_late({.period = Time{10}, .sporadic = true},
                              std::vector<Time>{Time{0}, Time{100}}));
}

}  // namespace
}  // namespace millrace::realtime
