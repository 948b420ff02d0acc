#include "explore/together.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "base/random.h"
#include "explore/mapping/joined.h"
#include "explore/problems.h"
#include "plan/build.h"
#include "support/network_builder.h"

namespace millrace::explore {
namespace {

using namespace test;

network::Network chain_of_layers(std::size_t layers) {
  millrace::test::NetworkBuilder builder;
  TensorId x = builder.input({1, 8});
  for (std::size_t i = 0; i < layers; ++i) x = builder.unary(network::UnaryKind::relu, x);
  builder.output(x);
  return builder.build();
}

board::Board board_of(int cores) {
  board::Board board;
  for (int i = 0; i < cores; ++i)
    board.processors.push_back({"core" + std::to_string(i), board::ProcessorKind::cpu, {i}});
  return board;
}

/// A profile with the microseconds of each layer on each core.
profile::Profile profile_of(const board::Board& board, const std::vector<std::vector<int>>& times) {
  profile::Profile profile;
  for (std::size_t p = 0; p < board.processors.size(); ++p) {
    profile::ProcessorProfile& processor = profile.processors.emplace_back();
    processor.processor = board.processors[p];
    for (const std::vector<int>& layer : times) {
      profile::LayerTimes& of_layer = processor.layers.emplace_back();
      of_layer.together = of_layer.alone =
          profile::statistics_of({std::chrono::microseconds(layer[p])});
    }
  }
  profile.tokens = {0, 0};
  return profile;
}

std::vector<std::vector<int>> random_times(Random& random, std::size_t layers, std::size_t cores) {
  std::vector<std::vector<int>> times(layers);
  for (auto& layer : times)
    for (std::size_t p = 0; p < cores; ++p) layer.push_back(static_cast<int>(5 + random.below(60)));
  return times;
}

ChooseOptions quick() {
  ChooseOptions options;
  options.genetic.population = 60;
  options.genetic.epochs = 40;
  return options;
}

/// By all mappings of all layers of both networks: what the busiest core does for a frame.
double least_of_all(const std::vector<std::vector<int>>& first,
                    const std::vector<std::vector<int>>& second, std::int64_t runs,
                    std::size_t cores) {
  std::vector<std::vector<int>> all = first;
  for (std::vector<int> layer : second) {
    for (int& time : layer) time *= static_cast<int>(runs);
    all.push_back(layer);
  }
  std::size_t mappings = 1;
  for (std::size_t i = 0; i < all.size(); ++i) mappings *= cores;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t mapping = 0; mapping < mappings; ++mapping) {
    std::vector<double> load(cores, 0);
    std::size_t rest = mapping;
    for (const std::vector<int>& layer : all) {
      load[rest % cores] += layer[rest % cores];
      rest /= cores;
    }
    least = std::min(least, *std::ranges::max_element(load));
  }
  return 1e3 * least;
}

/// What the plans put onto each core for a frame, by their layers: not by their evidence.
double busiest(const SharedCandidate& both, const std::vector<std::vector<int>>& first,
               const std::vector<std::vector<int>>& second, std::int64_t runs) {
  std::map<std::string, double> load;
  const auto add_stage = [&](const plan::Stage& stage, const std::vector<std::vector<int>>& times,
                             double count) {
    for (const board::Processor& processor : stage.processors) {
      const auto core = static_cast<std::size_t>(processor.cores.front());
      const double share = count / static_cast<double>(stage.replicas());
      for (const plan::Phase& phase : stage.phases)
        for (const LayerId layer : phase.layers)
          load[processor.name] += share * times[layer.index][core];
    }
  };
  const auto add = [&](const plan::Plan& plan, const std::vector<std::vector<int>>& times,
                       double count) {
    for (const plan::Stage& stage : plan.stages) add_stage(stage, times, count);
  };
  add(both.first.plan, first, 1);
  add(both.second.plan, second, static_cast<double>(runs));
  double most = 0;
  for (const auto& [name, sum] : load) most = std::max(most, sum);
  return 1e3 * most;
}

TEST(JoinedProblem, times_are_those_of_the_first_and_so_many_runs_of_the_second) {
  Random random(136);
  for (int i = 0; i < 200; ++i) {
    const std::size_t processors = 1 + random.below(3);
    Problem first = random_problem(random, 1 + random.below(6), processors);
    Problem second = random_problem(random, 1 + random.below(6), processors);
    for (Problem* each : {&first, &second})
      each->borders.assign(processors, Problem::Borders{2, 3, static_cast<double>(i % 2 * 7)});
    const auto runs = static_cast<std::int64_t>(1 + random.below(5));
    const Problem both = joined(first, second, runs);
    plan::Mapping mapping;
    for (std::size_t layer = 0; layer < both.layers; ++layer)
      mapping.processors.emplace_back(random.below(processors));
    const auto [one, other] = separated(mapping, first.layers);
    const auto times = processor_times(both, mapping);
    const auto alone = processor_times(first, one), more = processor_times(second, other);
    for (std::size_t p = 0; p < processors; ++p)
      EXPECT_DOUBLE_EQ(times[p], alone[p] + static_cast<double>(runs) * more[p]);
  }
}

TEST(ChooseTogether, the_plans_are_within_a_hundredth_of_the_best_of_all_mappings) {
  Random random(7);
  for (int i = 0; i < 40; ++i) {
    const std::size_t cores = 2 + random.below(2);
    const board::Board board = board_of(static_cast<int>(cores));
    const auto first = random_times(random, 3 + random.below(2), cores);
    const auto second = random_times(random, 2 + random.below(2), cores);
    const auto runs = static_cast<std::int64_t>(1 + random.below(4));
    const network::Network one = chain_of_layers(first.size());
    const network::Network other = chain_of_layers(second.size());
    const profile::Profile of_first = profile_of(board, first);
    const profile::Profile of_second = profile_of(board, second);
    const SharedChoice choice =
        choose_together({one, of_first}, {other, of_second, runs}, board, quick());
    const SharedCandidate& best = choice.candidates[choice.best];
    const double found = busiest(best, first, second, runs);
    EXPECT_LE(found, 1.01 * least_of_all(first, second, runs, cores)) << i << best.first.name;
    EXPECT_NEAR(static_cast<double>(best.bound.count()), found, 1e-6 * found);
    EXPECT_LE(choice.lower_bound, found * (1 + 1e-9));
  }
}

TEST(ChooseTogether, the_measured_pair_wins) {
  const board::Board board = board_of(2);
  const std::vector<std::vector<int>> times{{20, 20}, {20, 20}};
  const network::Network network = chain_of_layers(2);
  const profile::Profile profile = profile_of(board, times);
  std::size_t measured = 0;
  Companion companion{network, profile, 2};
  companion.measure = [&](std::span<const Pair> pairs) {
    measured = pairs.size();
    std::vector<Time> periods(pairs.size(), std::chrono::microseconds(90));
    for (std::size_t i = 0; i < pairs.size(); ++i)
      if (pairs[i].first.stages.front().replicas() == 2) periods[i] = std::chrono::microseconds(50);
    return periods;
  };
  const SharedChoice choice = choose_together({network, profile}, companion, board, quick());
  EXPECT_GT(measured, 1u);
  const SharedCandidate& best = choice.candidates[choice.best];
  EXPECT_EQ(best.first.plan.stages.front().replicas(), 2);
  EXPECT_EQ(best.second.plan.stages.front().replicas(), 2);
  EXPECT_EQ(best.period, std::chrono::microseconds(50));
}

TEST(ChooseBeside, the_second_network_goes_where_the_busiest_processor_has_the_least_to_do) {
  const board::Board board = board_of(3);
  const network::Network first = chain_of_layers(2), second = chain_of_layers(1);
  const profile::Profile of_first = profile_of(board, {{50, 50, 50}, {20, 20, 20}});
  ChooseOptions options = quick();
  options.search = "exact";
  Choice choice = choose(first, board, of_first, options);
  const std::vector<plan::Stage>& stages = choice.winner().plan.stages;
  ASSERT_EQ(stages.size(), 2u);  // 50 | 20, and a core without work
  std::vector<int> times(3, 29);  // what the idle core takes
  for (const plan::Stage& stage : stages)
    times[static_cast<std::size_t>(stage.processors.front().cores.front())] = 10;
  const profile::Profile of_second = profile_of(board, {times});
  const SharedChoice shared =
      choose_beside(choice.winner(), board, {second, of_second, 2}, options);
  const SharedCandidate& both = shared.candidates[shared.best];
  const std::string& name = both.second.plan.stages.front().processors.front().name;
  EXPECT_EQ(name, stages.back().processors.front().name);  // 20 + 20, not 58 on the idle one
  EXPECT_EQ(both.bound, std::chrono::microseconds(50));
}

}  // namespace
}  // namespace millrace::explore
