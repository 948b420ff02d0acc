#include <gtest/gtest.h>

#include "analysis/rate.h"
#include "base/json.h"
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

/// Plan and evidence come out of a file as they went in.
void expect_kept(const Plan& plan, const network::Network& network) {
  const millrace::test::TemporaryFolder folder;
  const auto path = folder.path() / "it.plan.json";
  Evidence evidence = predicted(PhaseTimes(plan, Time(70)));
  evidence.replicas[1].measured = Time(60);
  Origin origin;
  origin.network = plan.network_hash;
  write_plan(path, {plan, origin, evidence}, network);
  const PlanFile file = read_plan(path, network);
  EXPECT_EQ(file.plan, plan);
  EXPECT_EQ(file.evidence, evidence);
}

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

TEST_F(Replicas, are_processors_of_one_stage) {
  ASSERT_EQ(plan.stages.size(), 3u);
  const Stage& stage = plan.stages[1];
  ASSERT_EQ(stage.replicas(), 3);
  EXPECT_EQ(stage.dispatch, Dispatch::round_robin);
  EXPECT_EQ(stage.processors[0], board.processors[1]);
  EXPECT_EQ(stage.processors[2], board.processors[4]);
  EXPECT_EQ(name_of(stage, 2), "stage1.2");
  EXPECT_EQ(name_of(plan.stages[0], 0), "stage0");
  EXPECT_EQ(plan.stages[0].replicas(), 1);
  EXPECT_EQ(actors_in(plan), 5u);
}

TEST_F(Replicas, have_slots_for_the_frames_of_each) {
  ASSERT_EQ(plan.channels.size(), 4u);
  for (const Channel& channel : plan.channels)
    EXPECT_EQ(channel.capacity % replicas_of(plan, channel), 0);
  EXPECT_EQ(replicas_of(plan, plan.channels[1]), 3);
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

TEST_F(Replicas, are_kept_in_plan_files) { expect_kept(plan, network); }

TEST_F(Replicas, that_cannot_share_frames_are_refused) {
  const auto says = [&](const std::function<void(Plan&)>& change, const std::string& what) {
    const std::string message = message_after(change);
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  const board::Processor more{.name = "core9", .cores = {9}};
  says(
      [&](Plan& p) {
        p.stages[0].processors.resize(5, more);
        p.stages[1].processors.resize(7, more);
        p.stages[2].processors.resize(2, more);
      },
      "its stages have 5, 7, 2 replicas, so the same ones meet again after more than 64 frames");
  says([&](Plan& p) { p.stages[1].processors.resize(65, more); }, "found 65 replicas, expected at");
  says([](Plan& p) { p.stages[1].processors.clear(); }, "has no processor; give at least one");
  says([](Plan& p) { p.stages[1].dispatch = Dispatch::first_free; }, "choose round robin");
  says([](Plan& p) { p.stages[1].phases[0].offset += 1; }, "expected a multiple of 3");
  says([](Plan& p) { p.channels[1].capacity += 1; }, "expected a multiple of 3");
  says([](Plan& p) { p.stages[0].name = p.stages[1].name + ".1"; },
       "a stage and a replica have this name");
}

TEST_F(Replicas, of_files_are_counted_before_anything_is_kept_for_each) {
  millrace::test::TemporaryFolder folder;
  const auto path = folder / "plan.json";
  write_plan(path, {plan, {}, no_evidence(plan)}, network);
  nlohmann::json document = read_json(path);
  nlohmann::json& processors = document["stages"][1]["processors"];
  for (const std::size_t count : {1u, 3'000u}) {
    processors = std::vector<nlohmann::json>(count, processors[0]);
    write_json(path, document);
    const std::string message = millrace::test::message_of([&] { read_plan(path, network); });
    EXPECT_NE(message.find(fmt::format("processors: found {}, expected 2 to 64", count)),
              std::string::npos)
        << message;
  }
}

TEST_F(Replicas, of_stages_with_several_phases_run_all_of_them) {
  const network::Network path = network_of(3, {{0, 1}, {1, 2}});
  const Plan two =
      build(path, board, mapping_of({0, 1, 0}), {.replicas = {{ProcessorId(0), {ProcessorId(2)}}}});
  ASSERT_EQ(two.stages[0].phases.size(), 2u);
  EXPECT_EQ(two.stages[0].phases[1].offset % 2, 0);
  const PhaseTimes times{{Time(300), Time(500)}, {Time(300), Time(500)}, {Time(100)}};
  EXPECT_EQ(analysis::period_bound(two, path, times), Time(400));
}

TEST_F(Replicas, of_different_numbers_meet_in_turn) {
  options.replicas[ProcessorId(0)] = {ProcessorId(0)};  // a second stream
  const Plan both = build(network, board, mapping_of({0, 1, 2}), options);
  EXPECT_EQ(streams_on(both.stages[0], board.processors[0]), 2);
  EXPECT_EQ(replicas_of(both), 6);
  const PhaseTimes times{{Time(400)}, {Time(400)}, {Time(900)},
                         {Time(900)}, {Time(900)}, {Time(100)}};
  EXPECT_EQ(analysis::period_bound(both, network, times), Time(300));
}

/// For streams, each time holds what the others take; for replicas elsewhere it does not.
TEST_F(Replicas, keep_processors_busy_as_long_as_their_frames_take) {
  options.replicas[ProcessorId(0)] = {ProcessorId(0)};
  const Plan both = build(network, board, mapping_of({0, 1, 2}), options);
  const Evidence evidence =
      predicted({{Time(400)}, {Time(400)}, {Time(900)}, {Time(900)}, {Time(600)}, {Time(100)}});
  const std::map<std::string, Time> busy = busy_times(both, evidence);
  EXPECT_EQ(busy.at(board.processors[0].name), Time(200));
  EXPECT_EQ(busy.at(board.processors[1].name), Time(300));
  EXPECT_EQ(busy.at(board.processors[4].name), Time(200));
  EXPECT_EQ(busy.at(board.processors[2].name), Time(100));
}

/// 0 -> 1 -> 2 -> 3 on each of two processors, which gather frames for 1 and 2.
class BatchingReplicas : public testing::Test {
 protected:
  network::Network network = network_of(4, {{0, 1}, {1, 2}, {2, 3}});
  board::Board board = board_of(2);
  BuildOptions options{.batches = {1, 4, 4, 1}, .replicas = {{ProcessorId(0), {ProcessorId(1)}}}};
  Plan plan = build(network, board, mapping_of({0, 0, 0, 0}), options);
  PhaseTimes times{{Time(100), Time(200), Time(50)}, {Time(100), Time(200), Time(50)}};
};

TEST_F(BatchingReplicas, take_their_batches_in_turn) {
  ASSERT_TRUE(is_first_free(plan));
  ASSERT_EQ(plan.stages[0].phases.size(), 3u);
  EXPECT_EQ(plan.stages[0].phases[1].batch, 4);
  EXPECT_EQ(round_of(plan), 8);
  EXPECT_EQ(analysis::period_bound(plan, network, times), Time((4 * 100 + 200 + 4 * 50) / 8));
  EXPECT_EQ(analysis::shortest_period(plan, network, times), Time(100));
  times[1] = {Time(300), Time(600), Time(150)};
  EXPECT_EQ(analysis::period_bound(plan, network, times), Time(300)) << "turns are strict";
  EXPECT_EQ(analysis::shortest_period(plan, network, times), Time(150)) << "whoever is free";
}

TEST_F(BatchingReplicas, wait_for_the_frames_of_their_turn) {
  const auto latency = analysis::latency_bound(plan, network, times, Time(100));
  EXPECT_GE(latency.value(), Time(6 * 100 + 100 + 200 + 50));
}

TEST_F(BatchingReplicas, are_kept_in_plan_files) { expect_kept(plan, network); }

TEST_F(BatchingReplicas, have_slots_for_all_their_batches) {
  const auto message_after = [&](const std::function<void(Plan&)>& change) {
    Plan changed = plan;
    change(changed);
    return millrace::test::message_of([&] { check(changed, network); });
  };
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
    const BatchingCopies copies = batching_copies(random, network);
    const Plan plan = build(network, copies.board, copies.mapping, copies.options);
    ASSERT_TRUE(is_first_free(plan));
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
    auto [mapping, options] = random_replicas(random, network, board, 1 + random.below(5));
    options.capacity = 1 + static_cast<std::int64_t>(random.below(3));
    const Plan plan = build(network, board, mapping, options);  // has passed check()
    with_replicas += replicas_of(plan) > 1 ? 1u : 0u;
    EXPECT_TRUE(dataflow::is_live(
        schedule::csdf_graph(plan, network, {.phase_times = {}, .tokens_are_elements = true})));
    EXPECT_EQ(played(schedule::csdf_graph(plan, network)), "");
  }
  EXPECT_GT(with_replicas, 300u);
}

}  // namespace
}  // namespace millrace::plan
