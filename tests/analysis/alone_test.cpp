#include "analysis/alone.h"

#include <gtest/gtest.h>

#include <numeric>

#include "plan/networks.h"

namespace millrace::analysis {
namespace {

using namespace plan::test;
using Times = plan::PhaseTimes;

TEST(LatencyAlone, of_a_chain_is_the_sum_of_its_stages) {
  const auto network = network_of(3, {{0, 1}, {1, 2}});
  const auto plan = plan::build(network, board_of(3), mapping_of({0, 1, 2}));
  EXPECT_EQ(latency_alone(plan, {{Time(3)}, {Time(4)}, {Time(5)}}), Time(12));
}

TEST(LatencyAlone, counts_branches_on_different_stages_once) {
  const auto network = network_of(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  const auto plan = plan::build(network, board_of(3), mapping_of({0, 1, 2, 0}));
  ASSERT_EQ(text_of(plan), "stage0: 0 | 3; stage1: 1; stage2: 2");
  EXPECT_EQ(latency_alone(plan, {{Time(1), Time(10)}, {Time(2)}, {Time(7)}}), Time(1 + 7 + 10));
}

TEST(LatencyAlone, does_not_wait_for_the_frames_that_phases_lag_behind) {
  const auto network = network_of(4, {{0, 1}, {1, 2}, {0, 2}, {2, 3}});
  const auto plan = plan::build(network, board_of(2), mapping_of({0, 1, 0, 1}));
  ASSERT_EQ(text_of(plan), "stage0: 0 | 2; stage1: 1 | 3");
  EXPECT_EQ(latency_alone(plan, {{Time(1), Time(20)}, {Time(300), Time(4000)}}), Time(4321));
}

TEST(LatencyAlone, is_at_least_the_heaviest_path_and_at_most_the_sum) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const auto network = random_network(random, 25);
    const auto plan =
        plan::build(network, board_of(4), random_mapping(random, network.layers.size(), 4));
    const Times times = random_times(random, plan, 20);
    Time sum{}, heaviest{};
    for (const auto& phases : times) {
      const Time of_stage = std::accumulate(phases.begin(), phases.end(), Time{});
      sum += of_stage;
      heaviest = std::max(heaviest, of_stage);
    }
    EXPECT_LE(latency_alone(plan, times), sum) << seed;
    EXPECT_GE(latency_alone(plan, times), heaviest) << seed;
  }
}

}  // namespace
}  // namespace millrace::analysis
