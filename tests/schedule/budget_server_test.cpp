#include "schedule/budget_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "schedule/release_machine.h"
#include "support/releasing_deployment.h"

namespace millrace::schedule {
namespace {

using namespace millrace::test;
using deployment::Wanted;
using system::GroupId, system::Overload, system::ScenarioId;
using enum Decision::Kind;

deployment::FrameBudget budget_of(std::int64_t frames, Time every, Time frame) {
  return {{frames, every}, frame, 1};
}

TEST(budget_server, lets_no_more_frames_begin_in_any_window) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const auto frames = static_cast<std::int64_t>(1 + random.below(5));
    BudgetServer server(true);
    server.begin(budget_of(frames, ms(50), ms(8)), Time{});
    std::vector<Time> begun;
    Time now{};
    for (int n = 0; n < 100; ++n) {
      now = std::max(now + ms(random.below(30)), server.ready());
      server.take(now);
      begun.push_back(now);
    }
    for (const Time from : begun) {
      const auto within = std::ranges::count_if(
          begun, [&](Time at) { return at >= from && at < from + ms(50); });
      ASSERT_LE(within, frames);
    }
  }
}

TEST(budget_server, has_frames_pay_what_they_took_too_much) {
  BudgetServer server(true);
  server.begin(budget_of(1, ms(50), ms(8)), ms(0));
  server.take(ms(0));
  EXPECT_EQ(server.ready(), ms(50));
  server.pay(ms(12), ms(20));  // it took 20: all of this time and the next, and half of one more
  EXPECT_EQ(server.ready(), ms(150));
  server.begin(budget_of(1, ms(50), ms(8)), ms(30));  // another scenario forgets no debt
  EXPECT_EQ(server.ready(), ms(150));
  server.begin(budget_of(1, ms(50), ms(8)), ms(160));
  EXPECT_LE(server.ready(), ms(160));
}

TEST(budget_server, keeps_frames_in_order_until_it_is_full) {
  BudgetServer server(true);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t n = 0; n < BudgetServer::most_held; ++n) {
      EXPECT_FALSE(server.is_full());
      server.hold(ms(static_cast<std::int64_t>(n)));
    }
    EXPECT_TRUE(server.is_full());
    for (std::size_t n = 0; n < BudgetServer::most_held; ++n)
      EXPECT_EQ(server.pop(), ms(static_cast<std::int64_t>(n)));
    EXPECT_FALSE(server.has_held());
  }
}

using Kinds = std::vector<Decision::Kind>;

/// "high" alone, each 20 ms, 5 ms a frame.
Deployment with_budget(system::Budget budget, Time deadline = ms(20)) {
  Deployment result = releasing_deployment({});
  result.system.scenarios = {{"high", {GroupId(0)}}, {"none", {}}};
  result.system.groups[0].budget = budget;
  result.system.groups[0].deadline = deadline;
  return result;
}

constexpr Wanted high{ScenarioId(0), 0}, nothing{ScenarioId(1), 0};

std::vector<Decision> decisions_at(ReleaseMachine& machine, Time now) {
  std::vector<Decision> decisions;
  while (const auto decision = machine.decide(now)) decisions.push_back(*decision);
  return decisions;
}

Kinds kinds_of(ReleaseMachine& machine, Time now) {
  Kinds kinds;
  for (const Decision& decision : decisions_at(machine, now)) kinds.push_back(decision.kind);
  return kinds;
}

TEST(budget, of_a_frame_each_period_holds_nothing_back) {
  const Deployment deployment = with_budget({.time = ms(6)});
  ReleaseMachine machine(deployment);
  machine.begin(high);
  EXPECT_EQ(kinds_of(machine, ms(0)), (Kinds{enter, release}));
  for (int n = 1; n < 20; ++n) {
    machine.end_frames(GroupId(0), 1, 0);
    EXPECT_EQ(machine.next_due(), ms(20 * n));
    // However late the thread is, the next frame need not be.
    EXPECT_EQ(kinds_of(machine, ms(20 * n) + std::chrono::microseconds(100 * (n % 3))),
              Kinds{release});
  }
}

TEST(budget, holds_a_frame_back_until_there_is_enough_for_it) {
  const Deployment deployment = with_budget({.time = ms(12), .every = ms(50)}, ms(60));
  ReleaseMachine machine(deployment);
  machine.begin(high);
  EXPECT_EQ(kinds_of(machine, ms(0)), (Kinds{enter, release}));
  EXPECT_EQ(kinds_of(machine, ms(20)), Kinds{release});  // 12 ms are two frames of 5
  machine.end_frames(GroupId(0), 2, 0);
  EXPECT_EQ(kinds_of(machine, ms(40)), Kinds{hold});
  EXPECT_EQ(machine.next_due(), ms(50));
  EXPECT_EQ(kinds_of(machine, ms(49)), Kinds{});
  const auto held = decisions_at(machine, ms(50));
  ASSERT_EQ(held.size(), 1u);
  EXPECT_EQ(held[0].kind, release_held);
  EXPECT_EQ(held[0].due, ms(40));  // its response counts from when it came
  EXPECT_EQ(held[0].held, ms(10));
  EXPECT_TRUE(held[0].is_release());
}

TEST(budget, makes_frames_wait_after_one_that_took_too_long) {
  const Deployment deployment = with_budget({.time = ms(6)}, ms(60));
  ReleaseMachine machine(deployment);
  machine.begin(high);
  kinds_of(machine, ms(0));
  machine.end_frames(GroupId(0), 1, 0);
  machine.overrun(GroupId(0), ms(10), ms(16));  // two frames more
  EXPECT_EQ(kinds_of(machine, ms(20)), Kinds{hold});
  EXPECT_EQ(kinds_of(machine, ms(40)), Kinds{hold});
  EXPECT_EQ(kinds_of(machine, ms(60)), (Kinds{release_held, hold}));
  machine.end_frames(GroupId(0), 1, 0);
  EXPECT_EQ(kinds_of(machine, ms(80)), (Kinds{release_held, hold}));
}

TEST(budget, leaves_frames_that_wait_to_the_end_of_the_scenario) {
  const Deployment deployment = with_budget({.time = ms(5), .every = ms(100)}, ms(100));
  ReleaseMachine machine(deployment);
  machine.begin(high);
  kinds_of(machine, ms(0));
  EXPECT_EQ(kinds_of(machine, ms(40)), (Kinds{hold, hold}));
  machine.wish(nothing, ms(41), ms(41));
  machine.end_frames(GroupId(0), 1, 0);
  EXPECT_EQ(kinds_of(machine, ms(41)), (Kinds{drop, drop, enter}));
}

TEST(budget, of_an_aperiodic_group_counts_frames_from_when_they_begin) {
  Deployment deployment = with_budget({.time = ms(5), .every = ms(30)}, ms(30));
  deployment.system.groups[0].events.aperiodic = true;
  const std::vector<std::vector<Time>> recorded{{ms(1), ms(2), ms(3)}};
  ReleaseMachine machine(deployment, {1, &recorded});
  machine.begin(high);
  EXPECT_EQ(kinds_of(machine, ms(0)), Kinds{enter});
  EXPECT_EQ(kinds_of(machine, ms(1)), Kinds{release});
  EXPECT_EQ(kinds_of(machine, ms(3)), (Kinds{hold, hold}));
  EXPECT_EQ(kinds_of(machine, ms(31)), Kinds{});  // one after the other
  EXPECT_TRUE(machine.waits_for(GroupId(0)));
  machine.end_frames(GroupId(0), 1, 0);
  const auto second = decisions_at(machine, ms(33));
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].due, ms(33));
  EXPECT_EQ(second[0].held, ms(31));
  machine.end_frames(GroupId(0), 1, 0);
  EXPECT_EQ(kinds_of(machine, ms(40)), Kinds{});
  EXPECT_EQ(machine.next_due(), ms(63));
  const auto third = decisions_at(machine, ms(64));  // a moment late
  ASSERT_EQ(third.size(), 1u);
  EXPECT_EQ(third[0].due, ms(63));
}

TEST(budget, of_an_aperiodic_group_skips_frames_when_a_hundred_wait) {
  Deployment deployment = with_budget({.time = ms(5), .every = ms(1000)});
  deployment.system.groups[0].events.aperiodic = true;
  deployment.system.overload = Overload::lower_rate;
  deployment.system.levels = 2;
  const std::vector<std::vector<Time>> recorded{std::vector<Time>(110, ms(1))};
  ReleaseMachine machine(deployment, {1, &recorded});
  machine.begin({ScenarioId(0), 1});
  kinds_of(machine, ms(0));
  FrameCounts counts;
  for (const Decision& decision : decisions_at(machine, ms(1))) counts.count(decision);
  EXPECT_EQ(counts.due, 110);
  EXPECT_EQ(counts.released, 1);
  EXPECT_EQ(counts.skipped, 9);
  EXPECT_EQ(machine.transitions().level_changes, 0);  // no reason for others to be slower
}

}  // namespace
}  // namespace millrace::schedule
