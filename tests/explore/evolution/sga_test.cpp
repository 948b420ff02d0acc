#include "explore/evolution/sga.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace millrace::explore {
namespace {

/// From -5.12 to 5.12 in steps of 0.02.
constexpr std::uint32_t steps = 513;
double value_of(std::uint32_t gene) { return 0.02 * gene - 5.12; }

double sphere(const Genome& genome) {
  double sum = 0;
  for (const std::uint32_t gene : genome) sum += value_of(gene) * value_of(gene);
  return sum;
}

double rastrigin(const Genome& genome) {
  double sum = 10 * static_cast<double>(genome.size());
  for (const std::uint32_t gene : genome) {
    const double x = value_of(gene);
    sum += x * x - 10 * std::cos(2 * std::numbers::pi * x);
  }
  return sum;
}

double least_cost(double (*cost)(const Genome&), std::uint64_t seed) {
  Sga search(Genome(5, steps), cost, {.population = 100, .mutation = 0.2, .seed = seed});
  for (int generation = 0; generation < 400; ++generation) search.next_generation();
  EXPECT_EQ(cost(search.best()), search.least_cost());
  return search.least_cost();
}

/// Both have their only least value at the origin: 0. Rastrigin's second best is 0.995.
TEST(Sga, comes_to_the_origin_of_sphere_and_of_rastrigin_with_every_seed) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_LT(least_cost(sphere, seed), 0.01) << "seed " << seed;
    EXPECT_LT(least_cost(rastrigin, seed), 0.5) << "seed " << seed;
  }
}

TEST(Sga, the_same_seed_asks_the_same_and_another_one_does_not) {
  const auto asked_with = [](std::uint64_t seed) {
    std::vector<Genome> asked;
    const auto cost = [&](const Genome& genome) {
      asked.push_back(genome);
      return sphere(genome);
    };
    Sga search(Genome(4, steps), cost, {.population = 6, .seed = seed});
    for (int generation = 0; generation < 5; ++generation) search.next_generation();
    return asked;
  };
  EXPECT_EQ(asked_with(1), asked_with(1));
  EXPECT_NE(asked_with(1), asked_with(2));
  EXPECT_EQ(asked_with(1).size(), 36u);
}

TEST(Sga, never_loses_what_it_begins_with) {
  const Genome best(6, 256);
  Sga search(Genome(6, steps), sphere, {.population = 8, .start = {best}});
  for (int generation = 0; generation < 20; ++generation) search.next_generation();
  EXPECT_EQ(search.best(), best);
}

TEST(GenomeOperators, keep_each_gene_in_its_place_and_below_its_size) {
  const Genome sizes{1, 2, 300, 7};
  Random random(2);
  const auto is_of_parents = [](const Genome& child, const Genome& one, const Genome& other) {
    for (std::size_t g = 0; g < child.size(); ++g)
      if (child[g] != one[g] && child[g] != other[g]) return false;
    return true;
  };
  for (int i = 0; i < 200; ++i) {
    const Genome one = random_genome(sizes, random), other = random_genome(sizes, random);
    Genome child = one, first = one, second = other, mutant = one;
    cross_exponentially(child, other, 0.5, random);
    EXPECT_TRUE(is_of_parents(child, one, other));
    cross_at_two_points(first, second, random);
    EXPECT_TRUE(is_of_parents(first, one, other));
    mutate_uniformly(mutant, sizes, 0.5, random);
    for (std::size_t g = 0; g < sizes.size(); ++g) {
      EXPECT_EQ(first[g] + second[g], one[g] + other[g]);
      EXPECT_LT(mutant[g], sizes[g]);
    }
    mutate_uniformly(first, sizes, 0, random);
    EXPECT_TRUE(is_of_parents(first, one, other));
  }
}

}  // namespace
}  // namespace millrace::explore
