#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "realtime/analysis.h"
#include "realtime/simulate.h"
#include "realtime/utilisation.h"
#include "support/message_of.h"

namespace millrace::realtime {
namespace {

EventModel random_arrivals(Random& random) {
  EventModel model;
  model.period = Time{4 + random.below(20)};
  if (random.below(2) == 0) model.jitter = Time{random.below(40)};
  if (random.below(3) == 0) {
    model.burst = 2 + static_cast<std::int64_t>(random.below(3));
    model.burst_distance = Time{random.below(
        static_cast<std::uint64_t>(model.period.count() / model.burst) + 1)};
  }
  if (random.below(3) == 0)
    model.min_distance = model.burst > 1 ? model.burst_distance : Time{1 + random.below(3)};
  return model;
}

/// By the definition: as early as no window of `every` has more than `events`.
std::vector<Time> begins_of(const std::vector<Time>& came, const ActivationLimit& limit) {
  std::vector<Time> begins;
  for (const Time at : came) {
    Time begin = begins.empty() ? at : std::max(at, begins.back());
    while (std::ranges::count_if(begins, [&](Time other) {
             return other > begin - limit.every;
           }) >= limit.events)
      begin += Time{1};
    begins.push_back(begin);
  }
  return begins;
}

/// As dense as the model lets them be from the first on.
std::vector<Time> densest(const EventModel& model, std::int64_t count) {
  std::vector<Time> came;
  for (std::int64_t n = 1; n <= count; ++n) came.push_back(model.distance(n));
  return came;
}

TEST(activation_limit, holds_activations_back_for_as_long_as_counted_one_by_one) {
  Random random(5);
  int holding = 0;
  for (int round = 0; round < 2000; ++round) {
    const EventModel model = random_arrivals(random);
    const ActivationLimit limit{1 + static_cast<std::int64_t>(random.below(4)),
                                Time{1 + random.below(60)}};
    const Time hold = longest_hold(model, limit);
    if (hold == unbounded) continue;
    const std::vector<Time> came = densest(model, 150);
    const std::vector<Time> begins = begins_of(came, limit);
    Time longest{};
    for (std::size_t n = 0; n < came.size(); ++n) longest = std::max(longest, begins[n] - came[n]);
    ASSERT_EQ(longest, hold) << round;
    holding += hold > Time{} ? 1 : 0;
  }
  EXPECT_GT(holding, 150);
}

TEST(activation_limit, bounds_what_begins_and_so_do_the_events_themselves) {
  Random random(6);
  for (int round = 0; round < 500; ++round) {
    const EventModel model = random_arrivals(random);
    const ActivationLimit limit{1 + static_cast<std::int64_t>(random.below(4)),
                                Time{1 + random.below(30)}};
    std::vector<Time> came{Time{}};
    for (int n = 1; n < 60; ++n) {
      Time at = came.back() + Time{random.below(8)};
      for (int before = 1; before <= n; ++before)
        at = std::max(at, came[static_cast<std::size_t>(n - before)] + model.distance(before + 1));
      came.push_back(at);
    }
    const std::vector<Time> begins = begins_of(came, limit);
    for (std::size_t a = 0; a < begins.size(); ++a)
      for (std::size_t b = a; b < begins.size(); ++b) {
        const auto count = static_cast<std::int64_t>(b - a) + 1;
        ASSERT_GE(begins[b] - begins[a], limited_events(limit).distance(count));
        ASSERT_GE(begins[b] - begins[a], model.distance(count));
      }
  }
}

TEST(activation_limit, is_exceeded_in_the_long_run_by_more_events_than_it_allows) {
  EventModel model;
  model.period = Time{10};
  EXPECT_EQ(longest_hold(model, {1, Time{10}}), Time{});
  EXPECT_EQ(longest_hold(model, {1, Time{11}}), unbounded);
  EXPECT_EQ(longest_hold(model, {2, Time{20}}), Time{});
  model.jitter = Time{7};  // two come 3 apart
  EXPECT_EQ(longest_hold(model, {1, Time{10}}), Time{7});
}

/// On one core, "served" before "other".
TaskSystem served_and_other(std::int64_t period_of_served) {
  TaskSystem system;
  const ResourceId core = system.add_resource({"core"});
  const FlowId served = system.add_flow({.name = "served", .events = {Time{period_of_served}}});
  const FlowId other =
      system.add_flow({.name = "other", .events = {Time{20}}, .deadline = Time{20}});
  system.flows[served.index].limit = {1, Time{10}};
  system.add_task(served, {.name = "s", .resource = core, .worst = Time{4}, .priority = 2});
  system.add_task(other, {.name = "o", .resource = core, .worst = Time{5}, .priority = 1});
  return system;
}

TEST(activation_limit, bounds_what_others_wait_for_however_often_the_flow_comes) {
  for (const std::int64_t period : {1, 5, 10, 30}) {
    const Bounds bounds = analyse(served_and_other(period));
    EXPECT_EQ(bounds.flows[1].response, Time{9}) << period;  // 5 and once 4
    EXPECT_EQ(bounds.flows[0].held, period < 10 ? unbounded : Time{});
    EXPECT_EQ(bounds.flows[0].response, period < 10 ? unbounded : Time{4});
  }
  const TaskSystem often = served_and_other(5);
  const Bounds bounds = analyse(often);
  EXPECT_FALSE(utilisations(often)[0].is_overloaded);
  ASSERT_TRUE(bounds.reasons[0]);
  EXPECT_EQ(no_bound_text(often, *bounds.reasons[0]),
            "more activations of 's' on 'core' come than its budget lets begin");
  EXPECT_FALSE(bounds.reasons[1]);
}

TEST(activation_limit, counts_in_the_response_of_its_flow) {
  TaskSystem system = served_and_other(10);
  system.flows[0].events.jitter = Time{7};
  const Bounds bounds = analyse(system);
  EXPECT_EQ(bounds.flows[0].held, Time{7});
  EXPECT_EQ(bounds.flows[0].response, Time{7 + 4});
  EXPECT_EQ(bounds.flows[0].completion, Time{7 + 7 + 4});
  system.flows[0].deadline = Time{11};
  EXPECT_TRUE(keeps_deadlines(system));
  system.flows[0].deadline = Time{10};
  EXPECT_FALSE(keeps_deadlines(system));
  const SimulatedResponses seen = simulate(system, {.runs = 50});
  EXPECT_EQ(seen.largest.flows[0], Time{11});
}

TEST(activation_limit, allows_something_in_some_time) {
  TaskSystem system = served_and_other(10);
  system.flows[0].limit = {0, Time{10}};
  EXPECT_EQ(test::message_of([&] { check(system); }),
            "flow 'served': its limit allows 0 activations, expected 1 to 1000000");
  system.flows[0].limit = {1, Time{}};
  EXPECT_EQ(test::message_of([&] { check(system); }),
            "flow 'served': its limit's time is 0, expected more");
}

}  // namespace
}  // namespace millrace::realtime
