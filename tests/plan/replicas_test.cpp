#include <gtest/gtest.h>

#include "analysis/rate.h"
#include "dataflow/analysis.h"
#include "networks.h"
#include "plan/plan_file.h"
#include "plan/steps.h"
#include "schedule/graph.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"
#include "support/token_game.h"
#include "with_replicas.h"

namespace millrace::plan {
namespace {

using namespace test;
using millrace::test::played;

/// 0 -> 1 -> 2, each on a processor of its own; the one in the middle takes turns with two more.
class Replicas : public testing::Test {
 protected:
  network::Network network = network_of(3, {{0, 1}, {1, 2}});
  board::Board board = board_of(5);
  BuildOptions options{.replicas = {{ProcessorId(1), {ProcessorId(3), ProcessorId(4)}}}};
  Plan plan = build(network, board, mapping_of({0, 1, 2}), options);

  Time period(Time first, Time middle, Time last) const {
    return analysis::period_bound(plan, network, {{first}, {middle}, {middle}, {middle}, {last}})
        .value();
  }
  std::string message_after(const std::function<void(Plan&)>& change) const {
    Plan changed = plan;
    change(changed);
    return millrace::test::message_of([&] { check(changed, network); });
  }
};

TEST_F(Replicas, are_stages_that_differ_in_processor_and_turn) {
  ASSERT_EQ(plan.stages.size(), 5u);
  for (std::int64_t r = 0; r < 3; ++r) {
    const Stage& replica = plan.stages[static_cast<std::size_t>(1 + r)];
    EXPECT_EQ(replica.name, "stage1." + std::to_string(r));
    EXPECT_EQ(replica.turn, (Turn{r, 3}));
    EXPECT_EQ(replica.phases, plan.stages[1].phases);
  }
  EXPECT_EQ(plan.stages[2].processor, board.processors[3]);
  EXPECT_EQ(plan.stages[0].turn, Turn{});
}

TEST_F(Replicas, have_channels_of_their_own_that_share_slots) {
  std::size_t to_replicas = 0, from_replicas = 0;
  for (const Channel& channel : plan.channels) {
    const Turn turn = turn_of(plan, channel);
    if (channel.from.stage == 0) to_replicas += turn.of == 3 ? 1u : 0u;
    if (channel.to.stage == 4) from_replicas += turn.of == 3 ? 1u : 0u;
    EXPECT_EQ(channel.capacity % turn.of, 0);
  }
  EXPECT_EQ(to_replicas, 3u);
  EXPECT_EQ(from_replicas, 3u);
}

TEST_F(Replicas, share_the_work) {
  EXPECT_EQ(period(Time(100), Time(900), Time(100)), Time(300));
  EXPECT_EQ(period(Time(100), Time(300), Time(100)), Time(100));
  EXPECT_EQ(period(Time(400), Time(900), Time(100)), Time(400));
}

TEST_F(Replicas, the_slowest_holds_up_the_others_since_turns_are_strict) {
  const auto bound = analysis::period_bound(
      plan, network, {{Time(1)}, {Time(30)}, {Time(30)}, {Time(900)}, {Time(1)}});
  EXPECT_EQ(bound, Time(300));
}

TEST_F(Replicas, a_frame_alone_passes_one_of_them) {
  const auto latency = analysis::latency_bound(
      plan, network, {{Time(100)}, {Time(900)}, {Time(900)}, {Time(900)}, {Time(100)}}, Time(5000));
  EXPECT_GE(latency.value(), Time(1100));
}

TEST_F(Replicas, are_kept_in_plan_files) {
  const millrace::test::TemporaryFolder folder;
  const auto path = folder.path() / "it.plan.json";
  write_plan(path, plan, network);
  EXPECT_EQ(read_plan(path, network), plan);
}

TEST_F(Replicas, that_are_incomplete_or_unlike_are_refused) {
  const auto says = [&](const std::function<void(Plan&)>& change, const std::string& what) {
    const std::string message = message_after(change);
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  says([](Plan& p) { p.stages[2].turn.index = 2; },
       "stage1.2: has the same number 2 (turn) as another");
  says([](Plan& p) { p.stages[3].turn = {2, 4}; }, "has 3 replicas, but another stage has 4");
  says([](Plan& p) { p.stages[2].turn.index = 3; }, "is replica 3 of 3 (turn)");
  says([](Plan& p) { p.stages[2].engine = "other"; },
       "engine, offset (lag), batch or layers differ");
  says([](Plan& p) { p.stages[1].phases[0].lag += 1; }, "expected a multiple of 3");
  says([](Plan& p) { p.channels[1].capacity += 1; }, "expected a multiple of 3");
  says([](Plan& p) { p.stages.erase(p.stages.begin() + 3); },
       "replica 2 (turn) of this stage is missing");
  says([](Plan& p) { p.stages[0].phases[0].batch = 3; },
       "has a batch, but stages of this plan have replicas");
}

TEST_F(Replicas, of_stages_with_several_phases_are_refused) {
  const network::Network path = network_of(3, {{0, 1}, {1, 2}});
  const std::string message = millrace::test::message_of([&] {
    build(path, board, mapping_of({0, 1, 0}), {.replicas = {{ProcessorId(0), {ProcessorId(2)}}}});
  });
  EXPECT_NE(message.find("stage0: cannot have replicas, because it has 2 phases"),
            std::string::npos)
      << message;
}

/// 0 -> 1 -> 2 -> 3 on each of two processors, which gather frames for 1 and 2.
class GatheringReplicas : public testing::Test {
 protected:
  network::Network network = network_of(4, {{0, 1}, {1, 2}, {2, 3}});
  board::Board board = board_of(2);
  BuildOptions options{.batches = {1, 4, 4, 1}, .replicas = {{ProcessorId(0), {ProcessorId(1)}}}};
  Plan plan = build(network, board, mapping_of({0, 0, 0, 0}), options);
  std::vector<std::vector<Time>> times{{Time(100), Time(200), Time(50)},
                                       {Time(100), Time(200), Time(50)}};
};

TEST_F(GatheringReplicas, take_their_batches_in_turn) {
  ASSERT_TRUE(is_shared(plan));
  ASSERT_EQ(plan.stages[1].phases.size(), 3u);
  EXPECT_EQ(plan.stages[1].phases[1].batch, 4);
  EXPECT_EQ(round_of(plan), 8);
  EXPECT_EQ(analysis::period_bound(plan, network, times), Time((4 * 100 + 200 + 4 * 50) / 8));
  EXPECT_EQ(analysis::shortest_period(plan, network, times), Time(100));
  times[1] = {Time(300), Time(600), Time(150)};
  EXPECT_EQ(analysis::period_bound(plan, network, times), Time(300)) << "turns are strict";
  EXPECT_EQ(analysis::shortest_period(plan, network, times), Time(150)) << "whoever is free";
}

TEST_F(GatheringReplicas, wait_for_the_frames_of_their_turn) {
  const auto latency = analysis::latency_bound(plan, network, times, Time(100));
  EXPECT_GE(latency.value(), Time(6 * 100 + 100 + 200 + 50));
}

TEST_F(GatheringReplicas, are_kept_in_plan_files) {
  const millrace::test::TemporaryFolder folder;
  const auto path = folder.path() / "it.plan.json";
  write_plan(path, plan, network);
  EXPECT_EQ(read_plan(path, network), plan);
}

TEST_F(GatheringReplicas, are_alike_and_have_slots_for_all_their_batches) {
  const auto message_after = [&](const std::function<void(Plan&)>& change) {
    Plan changed = plan;
    change(changed);
    return millrace::test::message_of([&] { check(changed, network); });
  };
  EXPECT_NE(message_after([](Plan& p) {
              p.stages[1].phases[1].batch = 2;
            }).find("stage0.1: is a replica of stage0.0, but its engine, offset"),
            std::string::npos);
  const std::string small = message_after([](Plan& p) {
    for (Channel& channel : p.channels)
      if (!channel.from.is_outside() && !channel.to.is_outside()) channel.capacity = 6;
  });
  EXPECT_NE(small.find("works on 4 frames at once, so a capacity of 6 is too small; give it at "
                       "least 8"),
            std::string::npos)
      << small;
}

TEST(RandomReplicas, of_whole_networks_may_gather_in_any_way) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const network::Network network = random_network(random, 25);
    const GatheringCopies copies = gathering_copies(random, network);
    const Plan plan = build(network, copies.board, copies.mapping, copies.options);
    ASSERT_TRUE(is_shared(plan));
    EXPECT_TRUE(dataflow::is_live(
        schedule::csdf_graph(plan, network, {.phase_times = {}, .tokens_are_elements = true})));
    EXPECT_EQ(played(schedule::csdf_graph(plan, network)), "");
  }
}

TEST(RandomReplicas, give_graphs_that_are_consistent_and_live_and_pass_all_frames) {
  std::size_t with_replicas = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const network::Network network = random_network(random, 25);
    const board::Board board = board_of(20);
    const auto [mapping, replicas] = random_replicas(random, network, board, 1 + random.below(5));
    const BuildOptions options{.capacity = 1 + static_cast<std::int64_t>(random.below(3)),
                               .replicas = replicas};
    const Plan plan = build(network, board, mapping, options);  // has passed check()
    with_replicas += turns_of(plan) > 1 ? 1u : 0u;
    EXPECT_TRUE(dataflow::is_live(
        schedule::csdf_graph(plan, network, {.phase_times = {}, .tokens_are_elements = true})));
    EXPECT_EQ(played(schedule::csdf_graph(plan, network)), "");
  }
  EXPECT_GT(with_replicas, 300u);
}

}  // namespace
}  // namespace millrace::plan
