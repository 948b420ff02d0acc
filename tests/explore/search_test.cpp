#include "explore/mapping/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <numeric>

#include "problems.h"

namespace millrace::explore {
namespace {

using namespace test;

/// All cuts and all orders of processors.
double best_contiguous(const Problem& problem) {
  std::vector<std::size_t> order(problem.processors);
  std::iota(order.begin(), order.end(), 0u);
  double best = std::numeric_limits<double>::infinity();
  do {
    std::vector<std::size_t> part(problem.layers, 0);  // ascending
    for (;;) {
      std::vector<std::size_t> genes;
      for (std::size_t p : part) genes.push_back(order[p]);
      best = std::min(best, bottleneck_of(problem, mapping_of(genes)));
      auto digit = part.rbegin();
      while (digit != part.rend() && *digit + 1 == problem.processors) ++digit;
      if (digit == part.rend()) break;
      std::fill(part.rbegin(), digit + 1, *digit + 1);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

double best_of_all(const Problem& problem) {
  double best = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> genes(problem.layers, 0);
  for (;;) {
    best = std::min(best, bottleneck_of(problem, mapping_of(genes)));
    auto digit = genes.begin();
    for (; digit != genes.end() && *digit + 1 == problem.processors; ++digit) *digit = 0;
    if (digit == genes.end()) return best;
    ++*digit;
  }
}

TEST(ExactContiguous, is_the_best_of_all_cuts_and_orders) {
  Random random(7);
  for (int i = 0; i < 150; ++i) {
    const Problem problem = random_problem(random, 1 + random.below(9), 1 + random.below(4));
    const SearchResult found = exact_contiguous(problem);
    EXPECT_DOUBLE_EQ(found.bottleneck, best_contiguous(problem)) << i;
    EXPECT_EQ(found.bottleneck, bottleneck_of(problem, found.mapping));
  }
}

TEST(ExactContiguous, keeps_groups_together_where_separating_them_costs) {
  Problem problem = chain_of({10, 0, 10}, 2);
  problem.fused_into[1] = 0;
  problem.alone[1] = {8, 8};
  const plan::Mapping mapping = exact_contiguous(problem).mapping;
  EXPECT_EQ(mapping.processors[0], mapping.processors[1]);
  EXPECT_NE(mapping.processors[1], mapping.processors[2]);
}

TEST(ExactContiguous, takes_the_given_order_where_all_orders_are_too_many) {
  Random random(11);
  const Problem problem = random_problem(random, 300, 16);
  const SearchResult found = exact_contiguous(problem);
  EXPECT_TRUE(std::is_sorted(found.mapping.processors.begin(), found.mapping.processors.end()));
  EXPECT_LE(found.bottleneck, bottleneck_of(problem, mapping_of(std::vector<std::size_t>(300, 0))));
}

TEST(ExactContiguous, takes_far_less_than_a_second_for_a_large_network) {
  for (std::size_t processors : {2u, 8u}) {
    const Problem problem = large_problem(processors);
    const std::clock_t begin = std::clock();
    const SearchResult found = exact_contiguous(problem);
    EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC);
    EXPECT_LT(found.bottleneck, 1.15 * lower_bound(problem));
  }
}

GeneticOptions small_search() {
  GeneticOptions options;
  options.aim.fitness = Fitness::bottleneck;
  options.population = 100;
  options.epochs = 100;
  return options;
}

TEST(Genetic, finds_the_best_mapping_of_nearly_all_small_networks) {
  Random random(13);
  int best = 0;
  for (int i = 0; i < 40; ++i) {
    Problem problem = random_problem(random, 8, 2 + random.below(2));
    std::fill(problem.fused_into.begin(), problem.fused_into.end(), std::nullopt);
    const double found = genetic(problem, small_search()).bottleneck;
    const double known = best_of_all(problem);
    EXPECT_GE(found, known * (1 - 1e-12));
    EXPECT_LE(found, known * 1.1);
    best += found <= known * (1 + 1e-12) ? 1 : 0;
  }
  EXPECT_GE(best, 36);
}

TEST(Genetic, the_same_seed_gives_the_same_mapping) {
  Random random(17);
  const Problem problem = random_problem(random, 40, 3);
  GeneticOptions options = small_search();
  options.epochs = 5;
  const SearchResult first = genetic(problem, options);
  EXPECT_EQ(genetic(problem, options).mapping, first.mapping);
  options.seed = 2;
  EXPECT_NE(genetic(problem, options).mapping, first.mapping);
}

TEST(Genetic, never_separates_groups) {
  Random random(19);
  const Problem problem = random_problem(random, 40, 4);
  const SearchResult found = genetic(problem, small_search());
  for (std::size_t i = 0; i < problem.layers; ++i) {
    const std::size_t leader = problem.fused_into[i].value_or(i);
    EXPECT_EQ(found.mapping.processors[i], found.mapping.processors[leader]);
  }
}

TEST(Genetic, stops_when_nothing_improves_and_tells_each_epoch) {
  GeneticOptions options = small_search();
  options.patience = 7;
  std::vector<int> epochs;
  std::vector<double> best;
  options.progress = [&](int epoch, double fitness) {
    epochs.push_back(epoch);
    best.push_back(fitness);
  };
  const SearchResult found = genetic(chain_of({5, 5}, 2), options);
  EXPECT_EQ(found.epochs, 7);
  EXPECT_EQ(epochs, (std::vector<int>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(std::is_sorted(best.rbegin(), best.rend()));
  EXPECT_EQ(found.fitness, 5);
}

TEST(Genetic, balance_makes_times_equal_even_if_slow) {
  Problem problem = chain_of({0, 0}, 2);
  problem.time = problem.alone = {{1, 20}, {20, 3}};
  GeneticOptions options = small_search();
  EXPECT_EQ(genetic(problem, options).bottleneck, 3);
  options.aim.fitness = Fitness::balance;
  const SearchResult balanced = genetic(problem, options);
  EXPECT_EQ(balanced.fitness, 0);
  EXPECT_EQ(balanced.bottleneck, 20);
}

TEST(Genetic, one_processor_and_no_layers_are_easy) {
  EXPECT_EQ(genetic(chain_of({2, 3, 4}, 1), small_search()).bottleneck, 9);
  EXPECT_TRUE(genetic(chain_of({}, 2), small_search()).mapping.processors.empty());
}

TEST(Genetic, a_large_network_with_all_parameters_of_the_papers_takes_seconds) {
  const Problem problem = large_problem(2);
  const std::clock_t begin = std::clock();
  const SearchResult found = genetic(problem);
  const std::clock_t took = std::clock() - begin;
#if !defined(MILLRACE_SANITIZED) && defined(NDEBUG)
  EXPECT_LT(took, 10 * CLOCKS_PER_SEC);
#endif
  EXPECT_GT(took, 0);
  EXPECT_LT(found.bottleneck, 1.03 * lower_bound(problem));
}

/// No single layer can be put elsewhere with gain.
void expect_at_rest(const Problem& problem, const SearchResult& end) {
  for (std::size_t layer = 0; layer < problem.layers; ++layer)
    for (std::size_t processor = 0; processor < problem.processors; ++processor) {
      plan::Mapping other = end.mapping;
      other.processors[layer] = ProcessorId(processor);
      EXPECT_GE(bottleneck_of(problem, other), end.bottleneck * (1 - 1e-8));
    }
}

TEST(Improve, is_never_worse_and_ends_where_no_single_move_helps) {
  Random random(23);
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    const Problem problem = random_problem(random, 2 + random.below(20), 2 + random.below(3));
    const SearchResult start = exact_contiguous(problem);
    const SearchResult end = improve(problem, start, {Fitness::bottleneck});
    EXPECT_LE(end.bottleneck, start.bottleneck);
    EXPECT_EQ(end.moves == 0, end.mapping == start.mapping);
    expect_at_rest(problem, end);
  }
}

constexpr double never = std::numeric_limits<double>::infinity();

/// Every second layer cannot run on the last processor, and it is the fastest for the others.
Problem problem_with_limits() {
  Problem problem = chain_of(std::vector<double>(12, 10), 3);
  for (std::size_t i = 0; i < problem.layers; ++i) {
    problem.time[i][2] = i % 2 == 0 ? never : 1;
    problem.alone[i][2] = problem.time[i][2];
  }
  return problem;
}

TEST(Searches, never_put_a_layer_where_it_cannot_run) {
  const Problem problem = problem_with_limits();
  GeneticOptions options;
  options.population = 100;
  for (const Fitness fitness : {Fitness::period, Fitness::bottleneck, Fitness::balance}) {
    options.aim.fitness = fitness;
    const SearchResult found = genetic(problem, options);
    EXPECT_TRUE(std::isfinite(found.bottleneck));
    EXPECT_TRUE(std::isfinite(improve(problem, found, options.aim).bottleneck));
  }
  const SearchResult exact = exact_contiguous(problem);
  EXPECT_EQ(exact.bottleneck, 60);
  EXPECT_TRUE(std::isfinite(lower_bound(problem)));
}

TEST(Improve, leaves_a_processor_that_cannot_run_a_layer) {
  SearchResult start;
  start.mapping = mapping_of(std::vector<std::size_t>(12, 2));
  const SearchResult end = improve(problem_with_limits(), start);
  EXPECT_TRUE(std::isfinite(end.bottleneck));
}

TEST(ExactContiguous, finds_nothing_where_no_part_can_run) {
  Problem problem = chain_of({1, 1}, 2);
  problem.time = problem.alone = {{never, 1}, {1, never}};
  EXPECT_EQ(exact_contiguous(problem).bottleneck, 1);
  problem.time = problem.alone = {{never, never}, {1, 1}};
  const SearchResult none = exact_contiguous(problem);
  EXPECT_TRUE(std::isinf(none.bottleneck));
  EXPECT_TRUE(none.mapping.processors.empty());
}

TEST(Searches, count_what_each_border_costs_its_processor) {
  Problem problem = chain_of({4, 4, 4, 4}, 2);
  problem.borders = {{0, 0, 1, 0}, {2, 0, 3, 0}};  // the second reads an element in 2, 3 per edge
  EXPECT_EQ(processor_times(problem, mapping_of({0, 0, 1, 1})), (std::vector<double>{9, 13}));
  EXPECT_EQ(processor_times(problem, mapping_of({0, 0, 0, 1})), (std::vector<double>{13, 9}));
  EXPECT_EQ(exact_contiguous(problem).bottleneck, 11);  // the second first: 8 + 3, then 8 + 1
}

TEST(Searches, count_feeding_at_the_core_that_has_the_least_to_do) {
  Problem problem = chain_of({4, 4, 4, 4}, 3);
  problem.borders = {{}, {}, {.feeding = 0.5, .is_core = false}};
  EXPECT_EQ(processor_times(problem, mapping_of({0, 0, 1, 2})), (std::vector<double>{8, 6, 4}));
  EXPECT_EQ(processor_times(problem, mapping_of({0, 0, 2, 2})), (std::vector<double>{8, 4, 8}));
  EXPECT_EQ(processor_times(problem, mapping_of({0, 0, 1, 1})), (std::vector<double>{8, 8, 0}));
}

TEST(Searches, count_feeding_at_the_core_that_is_named) {
  Problem problem = chain_of({4, 4, 4, 4}, 3);
  problem.borders = {{}, {}, {.feeding = 0.5, .is_core = false, .fed_by = 0}};
  EXPECT_EQ(processor_times(problem, mapping_of({0, 0, 1, 2})), (std::vector<double>{10, 4, 4}));
  EXPECT_EQ(processor_times(problem, mapping_of({1, 1, 2, 2})), (std::vector<double>{4, 8, 8}));
}

TEST(ExactContiguous, gives_a_core_that_feeds_the_part_that_leaves_it_time) {
  Problem problem = chain_of({3, 6, 7, 8}, 3);
  for (auto* times : {&problem.time, &problem.alone})
    for (std::vector<double>& of_layer : *times) of_layer[2] = of_layer[0] / 2;
  problem.borders = {{}, {}, {.feeding = 0.5, .is_core = false, .fed_by = 1}};
  const SearchResult result = exact_contiguous(problem);
  plan::Mapping swapped = result.mapping;
  for (ProcessorId& processor : swapped.processors)
    if (processor.index < 2) processor.index = 1 - processor.index;
  const auto bottleneck_of = [&](const plan::Mapping& mapping) {
    return fitness_of(Fitness::bottleneck, processor_times(problem, mapping));
  };
  EXPECT_EQ(result.bottleneck, 7.5);
  EXPECT_EQ(result.bottleneck, bottleneck_of(result.mapping));
  EXPECT_LT(result.bottleneck, bottleneck_of(swapped));
}

TEST(ExactContiguous, leaves_a_core_out_that_has_no_time_beside_feeding) {
  Problem problem = chain_of({4, 4, 4, 4}, 3);
  for (auto* times : {&problem.time, &problem.alone})
    for (std::vector<double>& of_layer : *times) of_layer[2] = 1;  // the GPU
  problem.borders = {{}, {}, {.feeding = 1, .is_core = false, .fed_by = 0}};
  const SearchResult result = exact_contiguous(problem);
  EXPECT_EQ(result.bottleneck, 4);  // one layer on core1, three on the GPU, which core0 feeds
  for (const ProcessorId processor : result.mapping.processors) EXPECT_NE(processor.index, 0u);
}

TEST(Improve, counts_feeding) {
  Problem problem = chain_of({4, 4, 4, 4}, 3);
  for (auto* times : {&problem.time, &problem.alone})
    for (std::vector<double>& of_layer : *times) of_layer[2] = 1;
  problem.borders = {{}, {}, {.feeding = 1, .is_core = false, .fed_by = 0}};
  SearchResult start;
  start.mapping = mapping_of({0, 2, 2, 2});
  EXPECT_EQ(improve(problem, start).bottleneck, 4);
}

TEST(Improve, moves_a_cut_over_a_layer_that_is_costly_to_cut_at) {
  Problem problem = chain_of({4, 4, 4, 4, 4, 4}, 2);
  problem.read_ns = problem.write_ns = 1;
  problem.edges[1].elements = 9;  // between layers 1 and 2
  SearchResult start;
  start.mapping = mapping_of({0, 1, 1, 1, 1, 1});
  const SearchResult end = improve(problem, start);
  EXPECT_EQ(end.mapping, mapping_of({0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(end.bottleneck, 13);
  EXPECT_EQ(end.moves, 1);
}

}  // namespace
}  // namespace millrace::explore
