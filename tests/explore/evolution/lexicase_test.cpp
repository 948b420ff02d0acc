#include "explore/evolution/lexicase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace millrace::explore {
namespace {

double distance(const Genome& genome, const Genome& goal) {
  double sum = 0;
  for (std::size_t g = 0; g < genome.size(); ++g)
    sum += std::abs(static_cast<double>(genome[g]) - static_cast<double>(goal[g]));
  return sum;
}

TEST(Lexicase, comes_to_the_best_of_a_single_case) {
  const Genome goal{7, 3, 19, 0};
  LexicaseOptions options{.population = 16, .generations = 400};
  const LexicaseResult result = lexicase_search(
      {20, 20, 20, 20}, [&](const Genome& genome) { return std::vector{distance(genome, goal)}; },
      options);
  EXPECT_NE(std::ranges::find(result.population, goal), result.population.end());
}

TEST(Lexicase, keeps_the_best_of_each_case) {
  const Genome one{0, 0}, other{30, 30};
  LexicaseOptions options{.population = 24, .generations = 300};
  const LexicaseResult result = lexicase_search(
      {31, 31},
      [&](const Genome& genome) {
        return std::vector{distance(genome, one), distance(genome, other)};
      },
      options);
  for (const Genome& goal : {one, other})
    EXPECT_NE(std::ranges::find(result.population, goal), result.population.end());
}

TEST(Lexicase, the_same_seed_finds_the_same_and_each_genome_is_asked_once) {
  std::vector<LexicaseResult> results;
  for (int run = 0; run < 2; ++run) {
    std::vector<Genome> asked;
    LexicaseOptions options{.population = 8, .generations = 20, .seed = 5};
    results.push_back(lexicase_search(
        {6, 6, 6},
        [&](const Genome& genome) {
          asked.push_back(genome);
          return std::vector{distance(genome, {1, 2, 3})};
        },
        options));
    EXPECT_EQ(asked.size(), results.back().evaluated);
    std::ranges::sort(asked);
    EXPECT_EQ(std::ranges::adjacent_find(asked), asked.end());
  }
  EXPECT_EQ(results[0].population, results[1].population);
}

TEST(Lexicase, ends_by_patience_and_begins_with_what_it_is_given) {
  LexicaseOptions options{.population = 4, .generations = 1000, .patience = 10};
  options.start = {{9, 9}};
  bool has_start = false;
  const LexicaseResult result = lexicase_search(
      {10, 10},
      [&](const Genome& genome) {
        has_start = has_start || genome == Genome{9, 9};
        return std::vector{1.0};
      },
      options);
  EXPECT_TRUE(has_start);
  EXPECT_EQ(result.generations, 10u);
}

}  // namespace
}  // namespace millrace::explore
