#include "schedule/release_machine.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/releasing_deployment.h"

namespace millrace::schedule {
namespace {

using namespace millrace::test;
using deployment::Wanted;
using system::GroupId, system::Overload, system::ScenarioId;
using enum Decision::Kind;

/// "high" each 20 ms and "low" each 100; scenarios "all" and "low alone"; at level 0 half as often.
Deployment deployment_with(Overload overload) {
  Deployment result = releasing_deployment({});
  result.system.overload = overload;
  result.system.scenarios.push_back({"low alone", {GroupId(1)}});
  result.system.levels = 2;
  for (system::Group& group : result.system.groups)
    group.rates.least_fps = group.rates.most_fps / 2;
  return result;
}

constexpr Wanted all{ScenarioId(0), 1}, low_alone{ScenarioId(1), 1};

std::vector<Decision::Kind> kinds_at(ReleaseMachine& machine, Time now) {
  std::vector<Decision::Kind> kinds;
  while (const auto decision = machine.decide(now)) kinds.push_back(decision->kind);
  return kinds;
}

using Kinds = std::vector<Decision::Kind>;

TEST(release_machine, releases_each_group_in_its_period) {
  const Deployment deployment = deployment_with(Overload::skip);
  ReleaseMachine machine(deployment);
  machine.begin(all);
  EXPECT_EQ(kinds_at(machine, ms(0)), (Kinds{enter, release, release}));
  machine.end_frames(GroupId(0), 1, 0);
  EXPECT_EQ(machine.next_due(), ms(20));
  EXPECT_EQ(kinds_at(machine, ms(19)), Kinds{});
  const auto next = machine.decide(ms(21));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->due, ms(20));  // not when it was released
  EXPECT_EQ(next->deadline, ms(20));
  EXPECT_EQ(next->group, GroupId(0));
}

TEST(release_machine, skips_frames_of_a_busy_group) {
  const Deployment deployment = deployment_with(Overload::skip);
  ReleaseMachine machine(deployment);
  machine.begin(all);
  kinds_at(machine, ms(0));
  EXPECT_EQ(kinds_at(machine, ms(45)), (Kinds{skip, skip}));
  EXPECT_FALSE(machine.waits_for(GroupId(0)));
  machine.end_frames(GroupId(0), 1, 1);
  EXPECT_EQ(kinds_at(machine, ms(60)), Kinds{release});
}

TEST(release_machine, stretches_the_period_of_a_busy_group) {
  const Deployment deployment = deployment_with(Overload::stretch);
  ReleaseMachine machine(deployment);
  machine.begin(all);
  kinds_at(machine, ms(0));
  EXPECT_EQ(kinds_at(machine, ms(25)), Kinds{wait});
  EXPECT_TRUE(machine.waits_for(GroupId(0)));
  EXPECT_FALSE(machine.is_ready());
  EXPECT_EQ(machine.next_due(), ms(100));  // of the other group
  machine.end_frames(GroupId(0), 1, 1);
  EXPECT_TRUE(machine.is_ready());
  const auto late = machine.decide(ms(33));
  ASSERT_TRUE(late);
  EXPECT_EQ(late->kind, release_late);
  EXPECT_EQ(late->due, ms(20));
  EXPECT_EQ(machine.next_due(), ms(53));
}

TEST(release_machine, waits_at_a_transition_for_frames_on_their_way) {
  const Deployment deployment = deployment_with(Overload::stretch);
  ReleaseMachine machine(deployment);
  machine.begin(all);
  kinds_at(machine, ms(0));
  kinds_at(machine, ms(20));  // a frame of "high" waits
  machine.wish(low_alone, ms(24), ms(25));
  machine.wish(all, ms(26), ms(26));
  machine.wish(low_alone, ms(27), ms(27));
  EXPECT_EQ(machine.next_due(), Time::max());
  machine.end_frames(GroupId(0), 1, 0);
  EXPECT_EQ(kinds_at(machine, ms(30)), Kinds{});
  machine.end_frames(GroupId(1), 1, 0);
  EXPECT_EQ(machine.decide(ms(40))->kind, drop);
  const auto entered = machine.decide(ms(40));
  ASSERT_TRUE(entered);
  EXPECT_EQ(entered->at, low_alone);
  EXPECT_EQ(entered->lasted, ms(16));
  EXPECT_EQ(entered->bound, ms(76));  // the deadline of the frame of "low"
  EXPECT_EQ(kinds_at(machine, ms(40)), Kinds{});  // "low" keeps its distance
  EXPECT_EQ(machine.next_due(), ms(100));
  EXPECT_EQ(machine.transitions().wished, 3);
  EXPECT_EQ(machine.transitions().replaced, 2);
  EXPECT_EQ(machine.transitions().done, 1);
}

TEST(release_machine, lowers_the_rate_and_raises_it_when_it_was_calm) {
  const Deployment deployment = deployment_with(Overload::lower_rate);
  ReleaseMachine machine(deployment);
  machine.begin(low_alone);
  kinds_at(machine, ms(0));
  machine.end_frames(GroupId(1), 1, 1);  // late
  EXPECT_EQ(kinds_at(machine, ms(100)), (Kinds{release}));
  machine.end_frames(GroupId(1), 1, 0);
  const auto lower = machine.decide(ms(110));
  ASSERT_TRUE(lower);
  EXPECT_EQ(lower->at, (Wanted{ScenarioId(1), 0}));
  EXPECT_EQ(kinds_at(machine, ms(110)), Kinds{});  // 200 ms after the frame before
  const auto frames_at = [&](std::int64_t time) {
    const Kinds kinds = kinds_at(machine, ms(time));
    machine.end_frames(GroupId(1), machine.on_the_way(GroupId(1)), 0);
    return kinds;
  };
  for (std::int64_t time = 300; time <= 1100; time += 200)
    EXPECT_EQ(frames_at(time), Kinds{release}) << time;
  EXPECT_EQ(frames_at(1110), Kinds{enter});
  EXPECT_EQ(machine.next_due(), ms(1200));
  EXPECT_EQ(machine.transitions().level_changes, 2);
}

TEST(release_machine, takes_in_groups_when_no_frame_is_on_its_way) {
  const Deployment deployment = deployment_with(Overload::skip);
  Deployment joined = deployment;
  joined.system.groups.push_back(joined.system.groups[0]);
  joined.assignments.push_back(joined.assignments[0]);
  joined.system.scenarios[0].groups.emplace_back(2);
  std::vector<ReleaseState> states = ReleaseMachine::states_of(joined.system);
  ReleaseMachine machine(deployment);
  machine.begin(all);
  kinds_at(machine, ms(0));
  machine.begin_extension(ms(5));
  EXPECT_EQ(kinds_at(machine, ms(5)), Kinds{});
  machine.end_frames(GroupId(0), 1, 0);
  machine.end_frames(GroupId(1), 1, 0);
  EXPECT_EQ(machine.decide(ms(7))->kind, enter);
  machine.extend(joined, states);
  const auto first = machine.decide(ms(7));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->group, GroupId(2));
  EXPECT_EQ(machine.next_due(), ms(20));  // the others keep their distance
  EXPECT_EQ(machine.transitions().extensions, 1);
}

TEST(FrameCounts, count_what_is_decided) {
  FrameCounts counts;
  for (const auto kind : {release, skip, wait, release_late, wait, drop, hold})
    counts.count({.kind = kind});
  counts.count({.kind = release_held, .held = ms(7)});
  EXPECT_EQ(counts.due, 5);
  EXPECT_EQ(counts.released, 3);
  EXPECT_EQ(counts.stretched, 1);
  EXPECT_EQ(counts.held, 1);
  EXPECT_EQ(counts.longest_held, ms(7));
  EXPECT_EQ(counts.skipped, 2);
  EXPECT_EQ(counts.due, counts.released + counts.skipped);
}

/// Levels 0 and 1; each wish is for the higher one.
TEST(release_machine, goes_a_level_down_with_heat_and_up_again_without) {
  const Deployment deployment = deployment_with(Overload::skip);
  ReleaseMachine machine(deployment);
  machine.begin(all);
  kinds_at(machine, ms(0));
  for (const GroupId group : {GroupId(0), GroupId(1)}) machine.end_frames(group, 1, 0);
  machine.set_hot(true, ms(10));
  const auto down = machine.decide(ms(10));
  ASSERT_TRUE(down);
  EXPECT_EQ(down->kind, enter);
  EXPECT_EQ(down->at, (Wanted{ScenarioId(0), 0}));
  machine.wish(all, ms(11), ms(11));
  EXPECT_EQ(machine.decide(ms(11))->at, (Wanted{ScenarioId(0), 0}));  // heat allows no more
  kinds_at(machine, ms(12));
  machine.set_hot(false, ms(500));
  for (int at = 40; at < 1500; at += 20) {
    while (const auto decision = machine.decide(ms(at)))
      if (decision->kind == release) machine.end_frames(decision->group, 1, 0);
    EXPECT_EQ(machine.transitions().heat_changes, 1);
  }
  const auto up = machine.decide(ms(1500));
  ASSERT_TRUE(up);
  EXPECT_EQ(up->at, all);
  EXPECT_EQ(machine.transitions().heat_changes, 2);
  EXPECT_EQ(machine.transitions().level_changes, 0);
}

TEST(release_machine, goes_no_further_than_the_lowest_level_with_heat) {
  Deployment deployment = deployment_with(Overload::lower_rate);
  ReleaseMachine machine(deployment);
  machine.begin({ScenarioId(0), 0});
  machine.set_hot(true, ms(0));
  for (int at = 0; at < 5000; at += 20)
    while (const auto decision = machine.decide(ms(at)))
      if (decision->kind == release) machine.end_frames(decision->group, 1, 0);
  EXPECT_EQ(machine.transitions().heat_changes + machine.transitions().level_changes, 0);
}

}  // namespace
}  // namespace millrace::schedule
