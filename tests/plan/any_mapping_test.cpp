// Any mapping runs: random networks on random processors.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "analysis/rate.h"
#include "dataflow/analysis.h"
#include "networks.h"
#include "plan/steps.h"
#include "run_by_hand.h"
#include "schedule/graph.h"

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

/// Runs of layers with one batch each, all of them powers of two.
std::vector<std::int64_t> random_batches(Random& random, std::size_t layers) {
  std::vector<std::int64_t> batches;
  while (batches.size() < layers)
    batches.insert(batches.end(), 1 + random.below(5), std::int64_t{1} << random.below(4));
  batches.resize(layers);
  return batches;
}

/// One slot more than the largest offset: no plan may have less.
std::map<TensorId, std::int64_t> least_capacities(const Plan& plan) {
  std::map<TensorId, std::int64_t> least;
  for (const Channel& channel : plan.channels)
    least[channel.tensor] = std::max(least[channel.tensor], 1 + offset_of(plan, channel));
  return least;
}

TEST(AnyMapping, is_consistent_and_live_with_every_capacity) {
  std::size_t phases = 0, stages = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const Case each = random_case(seed);
    const BuildOptions options{.capacity = 1 + static_cast<std::int64_t>(seed % 3),
                               .most_offset = static_cast<std::int64_t>(seed % 7)};
    Plan plan = build(each.network, each.board, each.mapping, options);
    const std::map<TensorId, std::int64_t> least = least_capacities(plan);
    for (Channel& channel : plan.channels) channel.capacity = least.at(channel.tensor);
    ASSERT_NO_THROW(check(plan, each.network));
    const auto graph =
        schedule::csdf_graph(plan, each.network, {.phase_times = {}, .tokens_are_elements = true});
    for (std::int64_t cycles : dataflow::repetition_vector(graph)) ASSERT_EQ(cycles, 1);
    const Verdict live = dataflow::is_live(graph);
    ASSERT_TRUE(live) << live.reason();
    stages += plan.stages.size();
    for (const Stage& stage : plan.stages) phases += stage.phases.size();
  }
  EXPECT_GT(phases, 2 * stages);  // the cases do need several phases
}

TEST(AnyMapping, runs_by_hand_and_passes_all_frames) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Case each = random_case(seed);
    const BuildOptions options{.capacity = 1 + static_cast<std::int64_t>(seed % 3),
                               .most_offset = static_cast<std::int64_t>(seed % 7)};
    const Plan plan = build(each.network, each.board, each.mapping, options);
    ASSERT_EQ(RunByHand(plan, 20).waits(), "") << seed;
  }
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

Time slowest_stage(const PhaseTimes& times) {
  Time slowest{};
  for (const auto& phases : times)
    slowest = std::max(slowest, std::accumulate(phases.begin(), phases.end(), Time{}));
  return slowest;
}

/// Not only contiguous ones: offsets let a stage work on other frames while it would have to wait.
TEST(AnyMapping, runs_at_its_slowest_stage) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Case each = random_case(seed);
    Random random(seed);
    const Plan plan =
        build(each.network, each.board, each.mapping, {.capacity = 2, .most_offset = 100});
    const schedule::GraphOptions options{.phase_times = random_times(random, plan, 20)};
    const auto rate = dataflow::throughput(schedule::csdf_graph(plan, each.network, options));
    ASSERT_TRUE(rate) << seed;
    EXPECT_EQ(rate->span, rate->iterations * slowest_stage(options.phase_times)) << seed;
  }
}

TEST(AnyMapping, is_consistent_and_live_with_any_batches) {
  std::size_t batching = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Case each = random_case(seed);
    Random random(seed);
    BuildOptions options{.capacity = 1 + static_cast<std::int64_t>(seed % 3),
                         .most_offset = static_cast<std::int64_t>(seed % 20)};
    options.batches = random_batches(random, each.network.layers.size());
    const Plan plan = build(each.network, each.board, each.mapping, options);
    ASSERT_EQ(RunByHand(plan, 40).waits(), "");
    ASSERT_NO_THROW(schedule::check_live(plan, each.network));
    const std::vector<Endpoint> places = places_of_layers(plan);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Phase& phase = plan.stages[places[i].stage].phases[places[i].phase];
      ASSERT_EQ(phase.batch, options.batches[i]);
      batching += phase.batch > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(batching, 1000u);
}

/// Where all work on equally many frames, a cycle of that many is like one of a frame.
TEST(AnyMapping, with_the_same_batch_everywhere_runs_at_its_slowest_stage) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Case each = random_case(seed);
    Random random(seed);
    const std::int64_t batch = 2 + static_cast<std::int64_t>(seed % 3);
    BuildOptions options{.capacity = 2, .most_offset = 1000};
    options.batches.assign(each.network.layers.size(), batch);
    const Plan plan = build(each.network, each.board, each.mapping, options);
    const auto times = random_times(random, plan, 20);
    EXPECT_EQ(analysis::period_bound(plan, each.network, times), slowest_stage(times) / batch)
        << seed;
  }
}

/// The memory of a mapping that goes to and fro at every layer stays bounded.
TEST(AnyMapping, no_phase_lags_more_than_asked_for) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Case each = random_case(seed);
    const Plan plan =
        build(each.network, each.board, each.mapping, {.capacity = 3, .most_offset = 4});
    for (const Channel& channel : plan.channels) EXPECT_LE(channel.capacity, 4 + 3) << seed;
  }
}

}  // namespace
}  // namespace millrace::plan
