#include "schedule/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "schedule/release_machine.h"
#include "support/releasing_deployment.h"

namespace millrace::schedule {
namespace {

using namespace millrace::test;
using deployment::Wanted;
using realtime::EventModel;
using system::GroupId, system::ScenarioId;
using enum Decision::Kind;

std::vector<Time> drawn(const EventModel& model, std::uint64_t seed, std::size_t count) {
  Arrivals arrivals(seed, {});
  std::vector<Time> all{arrivals.first(model, Time{})};
  while (all.size() < count) all.push_back(arrivals.next());
  return all;
}

TEST(arrivals, of_a_periodic_group_come_each_period) {
  EXPECT_EQ(drawn({.period = ms(10)}, 1, 4), (std::vector{ms(0), ms(10), ms(20), ms(30)}));
}

TEST(arrivals, of_bursts_come_as_told) {
  const EventModel bursts{.period = ms(50), .burst = 3, .burst_distance = ms(2)};
  EXPECT_EQ(drawn(bursts, 1, 5), (std::vector{ms(0), ms(2), ms(4), ms(50), ms(52)}));
}

TEST(arrivals, are_the_same_from_a_seed) {
  const EventModel late{.period = ms(10), .jitter = ms(25), .min_distance = ms(1)};
  EXPECT_EQ(drawn(late, 7, 100), drawn(late, 7, 100));
  EXPECT_NE(drawn(late, 7, 100), drawn(late, 8, 100));
}

TEST(arrivals, keep_their_model) {
  const EventModel late{.period = ms(10), .jitter = ms(25), .min_distance = ms(1)};
  const EventModel sporadic{.period = ms(10), .jitter = ms(3), .sporadic = true};
  const EventModel bursts{.period = ms(50),
                          .jitter = ms(9),
                          .min_distance = ms(1),
                          .burst = 3,
                          .burst_distance = ms(2)};
  for (const EventModel& model : {late, sporadic, bursts}) {
    const std::vector<Time> all = drawn(model, 5, 400);
    EXPECT_TRUE(std::ranges::is_sorted(all));
    for (std::size_t n = 2; n < 60; ++n)
      for (std::size_t from = 0; from + n <= all.size(); ++from)
        ASSERT_GE(all[from + n - 1] - all[from], model.distance(static_cast<std::int64_t>(n)));
  }
}

TEST(arrivals, that_are_recorded_come_at_their_times) {
  const std::vector<Time> recorded{ms(1), ms(4), ms(9)};
  Arrivals arrivals(1, recorded);
  std::int64_t passed = 0;
  EXPECT_EQ(arrivals.first_recorded(ms(100), ms(103), passed), ms(104));
  EXPECT_EQ(passed, 1);
  EXPECT_EQ(arrivals.first_recorded(ms(100), ms(104), passed), ms(104));  // it was not released
  EXPECT_EQ(arrivals.next(), ms(109));
  EXPECT_EQ(arrivals.next(), Time::max());
  EXPECT_EQ(arrivals.next(), Time::max());
  EXPECT_EQ(arrivals.first_recorded(ms(100), ms(110), passed), Time::max());
  EXPECT_EQ(passed, 1);
}

std::vector<Time> dues_until(ReleaseMachine& machine, Time end, Time now = {}) {
  std::vector<Time> dues;
  for (; now <= end; now += ms(1))
    while (const auto decision = machine.decide(now)) {
      if (decision->kind != release) continue;
      dues.push_back(decision->due);
      machine.end_frames(decision->group, 1, 0);
    }
  return dues;
}

Deployment deployment_of_low() {
  Deployment result = releasing_deployment({});
  result.system.scenarios = {{"none", {}}, {"low", {GroupId(1)}}};
  return result;
}

TEST(release_machine, begins_a_group_its_offset_after_the_scenario) {
  Deployment deployment = deployment_of_low();  // each 100 ms
  deployment.system.groups[1].events.offset = ms(30);
  ReleaseMachine machine(deployment);
  machine.begin({ScenarioId(1), 0});
  EXPECT_EQ(dues_until(machine, ms(250)), (std::vector{ms(30), ms(130), ms(230)}));
}

TEST(release_machine, releases_what_was_recorded_and_counts_what_it_passes_over) {
  const Deployment deployment = deployment_of_low();
  const std::vector<std::vector<Time>> recorded{{}, {ms(3), ms(7), ms(50), ms(51)}};
  ReleaseMachine machine(deployment, {.recorded = &recorded});
  machine.begin({ScenarioId(0), 0});
  EXPECT_EQ(dues_until(machine, ms(20)), std::vector<Time>{});
  machine.wish({ScenarioId(1), 0}, ms(21), ms(21));
  EXPECT_EQ(dues_until(machine, ms(250), ms(21)), (std::vector{ms(50), ms(51)}));
  EXPECT_EQ(machine.transitions().passed_over, 2);
  EXPECT_EQ(machine.next_due(), Time::max());
}

TEST(release_machine, loses_nothing_recorded_in_a_transition_that_takes_no_time) {
  const Deployment deployment = deployment_of_low();
  const std::vector<std::vector<Time>> recorded{{}, {ms(3), ms(7), ms(50)}};
  ReleaseMachine machine(deployment, {.recorded = &recorded});
  machine.begin({ScenarioId(1), 0});
  EXPECT_EQ(dues_until(machine, ms(5)), std::vector{ms(3)});
  for (const Time at : {ms(5), ms(6), ms(7)}) machine.wish({ScenarioId(1), 0}, at, at);
  EXPECT_EQ(dues_until(machine, ms(60), ms(7)), (std::vector{ms(7), ms(50)}));
  machine.wish({ScenarioId(1), 0}, ms(60), ms(60));
  EXPECT_EQ(dues_until(machine, ms(90), ms(60)), std::vector<Time>{});
  EXPECT_EQ(machine.transitions().passed_over, 0);
}

TEST(release_machine, goes_on_from_where_a_frame_waited) {
  Deployment deployment = deployment_of_low();
  deployment.system.overload = system::Overload::stretch;
  deployment.system.groups[1].events = {.burst = 2, .burst_distance = ms(10)};
  deployment.system.groups[1].rates = {20, 20};  // two each 100 ms
  deployment.system.groups[1].deadline = ms(10);
  ReleaseMachine machine(deployment);
  machine.begin({ScenarioId(1), 0});
  while (machine.decide(ms(0))) continue;
  const auto waits = machine.decide(ms(10));
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->kind, wait);
  machine.end_frames(GroupId(1), 1, 1);
  const auto late = machine.decide(ms(33));
  ASSERT_TRUE(late);
  EXPECT_EQ(late->kind, release_late);
  EXPECT_EQ(machine.next_due(), ms(33 + 90));  // the first of the next burst
}

}  // namespace
}  // namespace millrace::schedule
