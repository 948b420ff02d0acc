#include "explore/evolution/nsga2.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace millrace::explore {
namespace {

constexpr std::size_t variables = 30, bits = 30;

/// Variables from 0 to 1 of 30 bits each, as the paper's binary-coded NSGA-II has them.
std::vector<double> decoded(const Genome& genome) {
  std::vector<double> values;
  for (std::size_t v = 0; v < variables; ++v) {
    std::uint32_t value = 0;
    for (std::size_t b = 0; b < bits; ++b) value = 2 * value + genome[v * bits + b];
    values.push_back(value / static_cast<double>((1u << bits) - 1));
  }
  return values;
}

/// ZDT1 and ZDT2 (Zitzler, Deb and Thiele 2000).
template <class Shape>
GenomeCases zdt(Shape shape) {
  return [shape](const Genome& genome) {
    const std::vector<double> x = decoded(genome);
    const double g = 1 + 9 * std::accumulate(x.begin() + 1, x.end(), 0.0) / (variables - 1);
    return std::vector{x[0], g * (1 - shape(x[0] / g))};
  };
}

/// As section V: 100 individuals, 250 generations, crossover of 0.9, one of so many bits flipped.
double hypervolume_found(const GenomeCases& objectives, std::uint64_t seed) {
  const Genome sizes(variables * bits, 2);
  Nsga2 search(sizes, objectives,
               {.crossover = 0.9, .mutation = 2.0 / (variables * bits), .seed = seed});
  for (int generation = 0; generation < 250; ++generation) search.next_generation();
  return hypervolume(search.points(), {1, 1});
}

/// The true fronts have 2/3 and 1/3. A hundred points spread evenly have 0.662 and 0.328.
TEST(Nsga2, comes_to_the_fronts_of_zdt1_and_zdt2) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_GT(hypervolume_found(zdt([](double s) { return std::sqrt(s); }), seed), 0.64) << seed;
    EXPECT_GT(hypervolume_found(zdt([](double s) { return s * s; }), seed), 0.30) << seed;
  }
}

TEST(Nsga2, keeps_its_size_its_best_ends_and_its_choices_for_a_seed) {
  const auto objectives = [](const Genome& genome) {
    const double x = genome[0], y = genome[1];
    return std::vector{x + y, (10 - x) * (10 - x) + y};
  };
  const auto after = [&](int generations) {
    Nsga2 search({11, 11}, objectives, {.population = 21, .seed = 4});
    for (int generation = 0; generation < generations; ++generation) search.next_generation();
    EXPECT_EQ(search.population().size(), 21u);
    return search.population();
  };
  const std::vector<Genome> found = after(60);
  EXPECT_EQ(found, after(60));
  for (const std::uint32_t x : {0u, 5u, 10u})
    EXPECT_NE(std::ranges::find(found, Genome{x, 0}), found.end()) << x;
}

}  // namespace
}  // namespace millrace::explore
