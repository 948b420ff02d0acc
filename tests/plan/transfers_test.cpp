// What comes to a memory of a device's own is copied there.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "dataflow/analysis.h"
#include "device_boards.h"
#include "plan/plan_file.h"
#include "plan/steps.h"
#include "run_by_hand.h"
#include "schedule/graph.h"
#include "support/temporary_folder.h"

namespace millrace::plan {
namespace {

using namespace test;

/// "transfers0 on device0.in: x to device0 | t1 to device0".
std::string transfers(const Plan& plan, const network::Network& network) {
  std::string text;
  for (const Stage& stage : plan.stages) {
    std::string phases;
    for (const Phase& phase : stage.phases)
      if (phase.transfer)
        phases += (phases.empty() ? "" : " | ") + network[phase.transfer->tensor].name + " " +
                  (phase.transfer->to.empty() ? "to the host" : "to " + phase.transfer->to);
    if (!phases.empty())
      text += (text.empty() ? "" : "; ") + stage.name + " on " + stage.processors[0].name + ": " +
              phases;
  }
  return text;
}

network::Network chain() { return network_of(3, {{0, 1}, {1, 2}}); }

TEST(Transfers, run_on_a_copy_engine_for_each_direction) {
  const auto network = chain();
  const Plan plan = build(network, board_with_devices(2, 1, 2), mapping_of({0, 1, 0}));
  EXPECT_EQ(transfers(plan, network),
            "transfers0 on device0.in: t0 to device0; transfers1 on device0.out: t1 to the host");
  std::map<std::string, int> spaces;
  for (const Channel& channel : plan.channels) ++spaces[channel.space];
  EXPECT_EQ(spaces, (std::map<std::string, int>{{"", 4}, {"device0", 2}}));
}

TEST(Transfers, run_on_one_copy_engine_for_both_directions) {
  const auto network = chain();
  const Plan plan = build(network, board_with_devices(2, 1, 1), mapping_of({0, 1, 0}));
  EXPECT_EQ(transfers(plan, network), "transfers0 on device0.copy: t0 to device0 | t1 to the host");
}

TEST(Transfers, are_within_the_stage_if_it_has_no_copy_engine_and_tensors_stay_there) {
  const auto network = network_of(3, {{0, 1}, {0, 2}, {1, 2}});
  const Plan plan = build(network, board_with_devices(2, 1, 0), mapping_of({1, 0, 1}));
  EXPECT_EQ(transfers(plan, network),
            "stage0 on device0: x to device0 | t0 to the host | t1 to device0 | t2 to the host");
}

TEST(Transfers, are_none_where_a_stage_without_copy_engine_keeps_nothing) {
  const auto network = chain();
  const Plan plan = build(network, board_with_devices(2, 1, 0), mapping_of({0, 1, 0}));
  EXPECT_EQ(transfers(plan, network), "");
  EXPECT_EQ(plan.stages[1].space, "");
}

TEST(Transfers, are_none_of_batches_and_where_whoever_is_free_takes_a_frame) {
  const auto network = chain();
  const board::Board board = board_with_devices(2, 1, 2);
  EXPECT_EQ(
      transfers(build(network, board, mapping_of({0, 1, 0}), {.batches = {1, 2, 1}}), network), "");
  EXPECT_EQ(
      transfers(build(network, board, mapping_of({1, 1, 1}), {.streams = {2, 2, 2}}), network), "");
}

TEST(Transfers, bring_a_tensor_once_to_all_who_read_it_there) {
  const auto network = network_of(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  const Plan plan = build(network, board_with_devices(3, 2, 2), mapping_of({1, 1, 2, 0}));
  EXPECT_EQ(transfers(plan, network),
            "transfers0 on device0.in: x to device0; "
            "transfers1 on device0.out: t0 to the host | t1 to the host; "
            "transfers2 on device1.in: t0 to device1; transfers3 on device1.out: t2 to the host");
}

struct CardCase {
  network::Network network;
  Plan plan;
};

CardCase random_card_case(std::uint64_t seed) {
  Random random(seed);
  CardCase result{random_network(random, 30), {}};
  const std::size_t processors = 2 + random.below(5), devices = 1 + random.below(processors - 1);
  const auto board = board_with_devices(processors, devices, static_cast<int>(random.below(3)));
  BuildOptions options{.capacity = 1 + static_cast<std::int64_t>(seed % 3),
                       .most_offset = static_cast<std::int64_t>(seed % 7)};
  const auto mapping = random_mapping(random, result.network.layers.size(), processors);
  result.plan = build(result.network, board, mapping, options);
  return result;
}

TEST(Transfers, of_any_mapping_are_consistent_and_live) {
  std::size_t copies = 0, copying = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const auto& [network, plan] = random_card_case(seed);
    ASSERT_NO_THROW(check(plan, network));
    for (std::int64_t cycles : dataflow::repetition_vector(schedule::csdf_graph(plan, network)))
      ASSERT_EQ(cycles, 1);
    ASSERT_NO_THROW(schedule::check_live(plan, network));
    ASSERT_EQ(RunByHand(plan, 12).waits(), "");
    for (const Stage& stage : plan.stages) {
      copying += is_copying(stage) ? 1u : 0u;
      for (const Phase& phase : stage.phases) copies += phase.transfer ? 1u : 0u;
    }
  }
  EXPECT_GT(copies, 5000u);
  EXPECT_GT(copying, 1000u);
}

TEST(Transfers, make_a_plan_that_runs_without_them_too) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const auto& [network, plan] = random_card_case(seed);
    const Plan without = without_transfers(plan, network);
    ASSERT_NO_THROW(check(without, network));
    ASSERT_NO_THROW(schedule::check_live(without, network));
    EXPECT_EQ(transfers(without, network), "");
  }
}

TEST(Transfers, are_in_the_plans_file) {
  const millrace::test::TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    const auto& [network, plan] = random_card_case(seed);
    PlanFile file{plan, {}, no_evidence(plan)};
    write_plan(folder.path() / "plan.json", file, network);
    EXPECT_EQ(read_plan(folder.path() / "plan.json", network).plan, plan);
  }
}

TEST(Transfers, that_do_not_fit_the_plan_are_refused) {
  const auto network = chain();
  const Plan plan = build(network, board_with_devices(2, 1, 2), mapping_of({0, 1, 0}));
  const auto message = [&](const auto& change) {
    Plan changed = plan;
    change(changed);
    return message_of([&] { check(changed, network); });
  };
  const auto into = [](Plan& each) -> Phase& { return each.stages[2].phases[0]; };
  EXPECT_NE(message([&](Plan& each) {
              into(each).transfer->from = "elsewhere";
            }).find("expected from or to the host's memory"),
            std::string::npos);
  EXPECT_NE(message([&](Plan& each) {
              into(each).layers = {LayerId(1)};
            }).find("has layers beside a transfer"),
            std::string::npos);
  EXPECT_NE(message([&](Plan& each) {
              each.stages[2].phases.push_back(into(each));
            }).find("twice; remove one"),
            std::string::npos);
  EXPECT_NE(
      message([&](Plan& each) { each.channels[1].space = "elsewhere"; }).find("mend its 'space'"),
      std::string::npos);
}

}  // namespace
}  // namespace millrace::plan
