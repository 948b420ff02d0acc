// Any mapping runs: random networks on random processors.
#include <gtest/gtest.h>

#include "dataflow/analysis.h"
#include "networks.h"

namespace millrace::plan {
namespace {

using namespace test;

struct Case {
  network::Network network;
  board::Board board;
  Mapping mapping;
};

Case random_case(std::uint64_t seed) {
  Random random(seed);
  Case result{random_network(random, 40), board_of(1 + random.below(6)), {}};
  result.mapping =
      random_mapping(random, result.network.layers.size(), result.board.processors.size());
  return result;
}

TEST(AnyMapping, is_consistent_and_live_with_every_capacity) {
  std::size_t phases = 0, stages = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const Case each = random_case(seed);
    Plan plan = build(each.network, each.board, each.mapping);
    for (Channel& channel : plan.channels) channel.capacity = 1;
    ASSERT_NO_THROW(check(plan, each.network));
    const auto graph =
        csdf_graph(plan, each.network, {.phase_times = {}, .tokens_are_elements = true});
    for (std::int64_t cycles : dataflow::repetition_vector(graph)) ASSERT_EQ(cycles, 1);
    const Verdict live = dataflow::is_live(graph);
    ASSERT_TRUE(live) << live.reason();
    stages += plan.stages.size();
    for (const Stage& stage : plan.stages) phases += stage.phases.size();
  }
  EXPECT_GT(phases, 2 * stages);  // the cases do need several phases
}

/// Merging any two neighbouring phases may deadlock or not; the rule must not cut without need at
/// least where a mapping is contiguous.
TEST(AnyMapping, contiguous_mappings_have_one_phase_per_stage) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Case each = random_case(seed);
    std::sort(each.mapping.processors.begin(), each.mapping.processors.end());
    for (const Stage& stage : build(each.network, each.board, each.mapping).stages)
      EXPECT_EQ(stage.phases.size(), 1u) << seed;
  }
}

std::vector<std::vector<Time>> random_times(Random& random, const Plan& plan) {
  std::vector<std::vector<Time>> times;
  for (const Stage& stage : plan.stages)
    for (auto& phases = times.emplace_back(); phases.size() < stage.phases.size();)
      phases.emplace_back(1 + static_cast<std::int64_t>(random.below(20)));
  return times;
}

/// How much longer an iteration takes with the plan's capacities than with ample ones.
double slowdown(const Case& each, std::uint64_t seed) {
  Random random(seed);
  Plan plan = build(each.network, each.board, each.mapping);
  const GraphOptions options{.phase_times = random_times(random, plan)};
  const auto sized = dataflow::throughput(csdf_graph(plan, each.network, options));
  for (Channel& channel : plan.channels) channel.capacity += 50;
  const auto ample = dataflow::throughput(csdf_graph(plan, each.network, options));
  EXPECT_TRUE(sized && ample);
  return ample->per_second() / sized->per_second();
}

TEST(AnyMapping, the_slots_are_enough_for_full_speed) {
  int slower = 0;
  double worst = 1;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const double ratio = slowdown(random_case(seed), seed);
    slower += ratio > 1 + 1e-12 ? 1 : 0;
    worst = std::max(worst, ratio);
  }
  EXPECT_EQ(slower, 0) << "worst " << worst;
}

TEST(AnyMapping, the_slots_of_contiguous_mappings_are_enough_for_full_speed) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Case each = random_case(seed);
    std::sort(each.mapping.processors.begin(), each.mapping.processors.end());
    EXPECT_DOUBLE_EQ(slowdown(each, seed), 1) << seed;
  }
}

}  // namespace
}  // namespace millrace::plan
