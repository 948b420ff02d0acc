#include "explore/mapping/problem.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "explore/mapping/search.h"
#include "problems.h"
#include "support/message_of.h"

namespace millrace::explore {
namespace {

using namespace test;

/// x -> a -> b -> (c reads a and b), tensors of 10 elements.
network::Network small_network() {
  network::Network network;
  network.name = "small";
  const auto tensor = [&](const char* name) {
    network.tensors.push_back({.name = name, .shape = {2, 5}, .constant = {}});
    return TensorId(network.tensors.size() - 1);
  };
  const TensorId x = tensor("x"), a = tensor("ta"), b = tensor("tb"), c = tensor("tc");
  network.inputs = {x};
  network.outputs = {c};
  network.layers.push_back({"a", network::Unary{}, {x}, {a}});
  network.layers.push_back({"b", network::Unary{}, {a}, {b}});
  network.layers.push_back({"c", network::Binary{}, {a, b}, {c}});
  return network;
}

board::Board board_of(const std::vector<std::string>& names) {
  board::Board board;
  board.name = "board";
  for (const std::string& name : names) {
    const int core = static_cast<int>(board.processors.size());
    board.processors.push_back({.name = name, .cores = {core}});
  }
  return board;
}

profile::LayerTimes times(std::int64_t together, std::int64_t alone) {
  profile::LayerTimes result;
  result.together.median = Time(together);
  result.alone.median = Time(alone);
  return result;
}

profile::Profile small_profile() {
  profile::Profile profile;
  profile.network_name = "small";
  profile.tokens = {0.5, 2};
  for (const board::Processor& processor : board_of({"p", "q"}).processors) {
    profile::ProcessorProfile& measured = profile.processors.emplace_back();
    measured.processor = processor;
    measured.layers = {times(100, 90), times(0, 30), times(50, 50)};
    measured.layers[1].fused_into = LayerId(0);
  }
  profile.processors[1].layers[2] = times(200, 200);
  return profile;
}

TEST(MakeProblem, takes_times_groups_edges_and_token_costs) {
  const Problem problem = make_problem(small_network(), board_of({"q", "p"}), small_profile());
  EXPECT_EQ(problem.layers, 3u);
  EXPECT_EQ(problem.processors, 2u);
  EXPECT_EQ(problem.time[2], (std::vector<double>{200, 50}));  // in the board's order
  EXPECT_EQ(problem.alone[1], (std::vector<double>{30, 30}));
  EXPECT_EQ(problem.fused_into[1], 0u);
  EXPECT_FALSE(problem.fused_into[2]);
  ASSERT_EQ(problem.edges.size(), 3u);
  EXPECT_EQ(problem.edges[2].from, 1u);
  EXPECT_EQ(problem.edges[2].to, 2u);
  EXPECT_EQ(problem.edges[2].elements, 10);
  EXPECT_EQ(problem.read_ns, 0.5);
}

TEST(MakeProblem, takes_times_under_contention_where_several_processors_work) {
  profile::Profile profile = small_profile();
  profile.processors[0].layers[0].contended.median = Time(120);
  profile.processors[0].layers[0].contended.count = 3;
  const Problem both = make_problem(small_network(), board_of({"p", "q"}), profile);
  EXPECT_EQ(both.time[0], (std::vector<double>{120, 100}));
  EXPECT_EQ(both.alone[0], (std::vector<double>{108, 90}));
  EXPECT_EQ(both.alone[1], (std::vector<double>{36, 30}));  // as its group
  EXPECT_EQ(both.time[2], (std::vector<double>{50, 200}));
  const Problem one = make_problem(small_network(), board_of({"p"}), profile);
  EXPECT_EQ(one.time[0], (std::vector<double>{100}));
}

TEST(MakeProblem, takes_the_core_that_feeds_from_the_board) {
  profile::Profile profile = small_profile();
  profile.processors[1].processor = {"gpu", board::ProcessorKind::gpu, {}};
  profile.processors[1].borders = profile::BorderCosts{.feeding = 0.25};
  board::Board board = board_of({"p"});
  board.processors.insert(board.processors.begin(), profile.processors[1].processor);
  board::Device& gpu = board.devices.emplace_back();
  gpu.processors = {"gpu"};
  const auto borders = [&] { return make_problem(small_network(), board, profile).borders_of(0); };
  EXPECT_EQ(borders().feeding, 0.25);
  EXPECT_FALSE(borders().fed_by);  // the system chooses
  gpu.costs.fed_by_core = 0;
  EXPECT_EQ(borders().fed_by, 1u);
  gpu.costs.fed_by_core = 5;  // a core that the plan does not have has time
  EXPECT_EQ(borders().feeding, 0);
}

TEST(MakeProblem, what_the_profile_lacks_is_named) {
  const auto message = [](const board::Board& board, const profile::Profile& profile) {
    return millrace::test::message_of([&] { make_problem(small_network(), board, profile); });
  };
  EXPECT_NE(message(board_of({"r"}), small_profile()).find("no processor 'r', only p, q"),
            std::string::npos);
  EXPECT_NE(message(board_of({}), small_profile()).find("no processors"), std::string::npos);
  profile::Profile shorter = small_profile();
  shorter.processors[1].layers.pop_back();
  EXPECT_NE(message(board_of({"p", "q"}), shorter).find("'q' has 2 layers, the network 3"),
            std::string::npos);
  profile::Profile circular = small_profile();
  circular.processors[0].layers[0].fused_into = LayerId(1);
  EXPECT_NE(message(board_of({"p"}), circular).find("fuses it into a later layer"),
            std::string::npos);
  circular.processors[0].layers[0].fused_into = LayerId(99);
  EXPECT_NE(message(board_of({"p"}), circular).find("fuses it into a later layer"),
            std::string::npos);
}

TEST(ProcessorTimes, add_layers_and_what_crosses) {
  const Problem problem = make_problem(small_network(), board_of({"p", "q"}), small_profile());
  EXPECT_EQ(processor_times(problem, mapping_of({0, 0, 0})), (std::vector<double>{150, 0}));
  // Both a and b write 10 elements for c: 2 ns each; c reads them: 0.5 ns each.
  EXPECT_EQ(processor_times(problem, mapping_of({0, 0, 1})), (std::vector<double>{140, 210}));
  // b is separated from its group: 30 alone; a writes for it, it reads, writes for c.
  EXPECT_EQ(processor_times(problem, mapping_of({0, 1, 0})),
            (std::vector<double>{100 + 20 + 50 + 5, 5 + 30 + 20}));
}

TEST(FitnessOf, is_the_bottleneck_or_the_sum_of_all_differences) {
  EXPECT_EQ(fitness_of(Fitness::bottleneck, {3, 7, 4}), 7);
  EXPECT_EQ(fitness_of(Fitness::balance, {3, 7, 4}), 2 * (4 + 1 + 3));
}

TEST(LowerBound, is_the_heaviest_layer_or_an_equal_share) {
  EXPECT_EQ(lower_bound(chain_of({10, 1, 1}, 2)), 10);
  EXPECT_EQ(lower_bound(chain_of({4, 4, 4}, 2)), 6);
}

TEST(LowerBound, no_mapping_goes_below_it) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const Problem problem = random_problem(random, 1 + random.below(20), 1 + random.below(4));
    const double bound = lower_bound(problem);
    for (int k = 0; k < 20; ++k) {
      std::vector<std::size_t> genes;
      for (std::size_t l = 0; l < problem.layers; ++l)
        genes.push_back(random.below(problem.processors));
      EXPECT_GE(bottleneck_of(problem, mapping_of(genes)), bound * (1 - 1e-12));
    }
  }
}

}  // namespace
}  // namespace millrace::explore
