#include "explore/mapping/plan_period.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/rate.h"
#include "base/random.h"
#include "board/shipped.h"
#include "explore/candidates.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "plan/networks.h"
#include "profile/cost_model.h"

namespace millrace::explore {
namespace {

using plan::test::board_of;
using plan::test::mapping_of;
using plan::test::network_of;

plan::BuildOptions within(std::int64_t bytes) { return {.capacity = 3, .most_memory = {bytes}}; }

/// Layers of 5 ms; a tensor has 100 bytes.
Problem to_and_fro() {
  Problem problem;
  problem.layers = 4;
  problem.processors = 2;
  problem.time.assign(4, {5, 5});
  problem.alone = problem.time;
  problem.fused_into.resize(4);
  for (std::size_t i = 0; i < 3; ++i) problem.edges.push_back({i, i + 1, 1, {i + 1, 100}});
  problem.ends = {{0, 1, true, {0, 100}}, {3, 1, false, {4, 100}}};
  return problem;
}

/// The example of docs/concepts.md. With offsets 0, 1, 2, 3 each of five tensors needs 3 slots.
/// With at most 2, one needs one less, and the last two layers follow each other within a frame:
/// there is still work for both. With at most 1 the second processor waits for the third layer,
/// with 0 both wait.
TEST(PlanPeriod, of_a_frame_that_goes_to_and_fro_depends_on_memory) {
  const std::vector<Gene> genes{0, 1, 0, 1};
  const auto period = [&](std::int64_t bytes) {
    return PlanPeriod(to_and_fro(), within(bytes)).of(genes);
  };
  EXPECT_EQ(period(1500), 10);
  EXPECT_EQ(period(1400), 10);
  EXPECT_EQ(period(1399), 15);
  EXPECT_EQ(period(1300), 15);
  EXPECT_EQ(period(1), 15);
}

/// Layers 1 and 2 would run as one kernel, but layer 2 waits for the other processor, which waits
/// for layer 1.
TEST(PlanPeriod, counts_a_group_that_lies_in_two_phases_as_separated) {
  Problem problem;
  problem.layers = 4;
  problem.processors = 2;
  problem.time = {{1, 1}, {10, 10}, {1, 1}, {0, 0}};
  problem.alone = {{1, 1}, {10, 10}, {1, 1}, {7, 7}};
  problem.fused_into = {std::nullopt, std::nullopt, std::nullopt, 1};
  problem.edges = {{0, 1, 1}, {1, 2, 1}, {1, 3, 1}, {2, 3, 1}};
  const std::vector<Gene> genes{0, 0, 1, 0};
  EXPECT_EQ(PlanPeriod(problem).of(genes), 18);
  EXPECT_EQ(processor_times(problem, mapping_of({0, 0, 1, 0})), (std::vector<double>{11, 1}));
}

network::Network random_network_with_sizes(Random& random) {
  network::Network network = plan::test::random_network(random, 40);
  for (network::Tensor& tensor : network.tensors)
    tensor.shape = {1, static_cast<std::int64_t>(1 + random.below(1000))};
  return network;
}

/// Every third layer or so is fused into what it reads.
profile::Profile random_profile(Random& random, const network::Network& network,
                                const board::Board& board) {
  profile::Profile profile;
  const network::Topology topology = network::topology(network);
  std::vector<std::optional<LayerId>> groups;
  for (const auto& before : topology.predecessors)
    groups.push_back(!before.empty() && random.below(3) == 0 ? std::optional(before.front())
                                                             : std::nullopt);
  for (const board::Processor& processor : board.processors) {
    profile::ProcessorProfile& measured = profile.processors.emplace_back();
    measured.processor = processor;
    for (const auto& group : groups) {
      profile::LayerTimes& times = measured.layers.emplace_back();
      const Time alone(100 + static_cast<std::int64_t>(random.below(900)));
      times.alone = profile::statistics_of({alone});
      times.together = group ? profile::statistics_of({alone / 10}) : times.alone;
      times.fused_into = group;
    }
    profile::BorderCosts borders;
    borders.read_ns = 0.25, borders.write_ns = 0.5;
    borders.launch = Time(static_cast<std::int64_t>(random.below(50)));
    if (random.below(2) == 0) measured.borders = borders;
  }
  return profile;
}

/// The graph of the plan itself says the same, with much and with little memory.
TEST(PlanPeriod, is_the_period_of_the_plan_that_is_built) {
  int waiting = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const network::Network network = random_network_with_sizes(random);
    const board::Board board = board_of(1 + random.below(5));
    const Problem problem = make_problem(network, board, random_profile(random, network, board));
    const plan::Mapping mapping = plan::test::random_mapping(random, problem.layers,
                                                             problem.processors);
    plan::BuildOptions options = within(std::int64_t{1} << (10 + random.below(10)));
    options.capacity = 1 + static_cast<std::int64_t>(random.below(4));
    const plan::Plan plan = plan::build(network, board, mapping, options);
    const auto times = plan::predicted_times(plan, predicted(plan, mapping, {problem}));
    const auto bound = analysis::period_bound(plan, network, times);
    ASSERT_TRUE(bound);
    const double found = PlanPeriod(problem, options).of(genes_of(mapping));
    EXPECT_NEAR(found, static_cast<double>(bound->count()), 1.0);
    const std::vector<double> stages = processor_times(problem, mapping);
    waiting += found > 1.3 * *std::max_element(stages.begin(), stages.end()) ? 1 : 0;
  }
  EXPECT_GT(waiting, 20);
}

SearchResult papers_search(const Problem& problem) {
  GeneticOptions options;
  options.population = 100;
  options.epochs = 20;
  options.contiguous = 0;
  return genetic(problem, options);
}

/// Four equal cores, as in the comparison that the search is judged by: densenet121 goes to and fro
/// over a hundred times if the first generation is random.
TEST(PlanPeriod, is_what_the_genetic_search_of_the_papers_makes_small) {
  for (const char* name : {"densenet121", "bvlc_googlenet"}) {
    SCOPED_TRACE(name);
    const network::Network network = formats::read_onnx(formats::zoo_model(name), name, {});
    const board::Board board =
        board::only(board::find_board("jetson-tx2"), {"core0", "core3", "core4", "core5"});
    const Problem problem =
        make_problem(network, board, profile::modelled(network, board, {board::Precision::f32}));
    const SearchResult found = papers_search(problem);
    const plan::Plan plan = plan::build(network, board, found.mapping, Aim{}.build);
    const auto times = plan::predicted_times(plan, predicted(plan, found.mapping, {problem}));
    const auto bound = analysis::period_bound(plan, network, times);
    ASSERT_TRUE(bound);
    EXPECT_LE(static_cast<double>(bound->count()), found.fitness / 0.95);
    EXPECT_GE(static_cast<double>(bound->count()), found.bottleneck * (1 - 1e-6));
  }
}

}  // namespace
}  // namespace millrace::explore
