#include "explore/system/clocks.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace millrace::explore {
namespace {

/// Devices whose work takes longer at lower clocks; what all take together has a deadline.
ClockProblem chain_problem(std::uint64_t seed, std::vector<std::size_t> sizes) {
  Random random(seed);
  ClockProblem problem;
  std::vector<double> works;
  for (const std::size_t size : sizes) {
    std::vector<double>& costs = problem.costs.emplace_back();
    double cost = 1 + 10 * random.unit();
    for (std::size_t c = 0; c < size; ++c) costs.push_back(cost += 5 * random.unit());
    works.push_back(1 + 10 * random.unit());
  }
  double fastest = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    fastest += works[d] / static_cast<double>(sizes[d]);
  const double deadline = fastest * (0.9 + 1.5 * random.unit());
  problem.is_schedulable = [works, deadline](const ClockLevels& clocks) {
    double time = 0;
    for (std::size_t d = 0; d < clocks.size(); ++d)
      time += works[d] / static_cast<double>(clocks[d] + 1);
    return time <= deadline;
  };
  return problem;
}

TEST(Clocks, greedy_slows_the_first_device_first) {
  ClockProblem problem{.costs = {{1, 2, 3}, {1, 2, 3}}};
  problem.is_schedulable = [](const ClockLevels& clocks) { return clocks[0] + clocks[1] >= 3; };
  const ClockResult first = greedy_clocks(problem);
  EXPECT_TRUE(first.schedulable);
  EXPECT_EQ(first.clocks, (ClockLevels{1, 2}));
  problem.order = {1, 0};
  EXPECT_EQ(greedy_clocks(problem).clocks, (ClockLevels{2, 1}));
}

TEST(Clocks, the_search_finds_what_greedy_rounds_pass_over) {
  // Once the first device is slow, the second, which costs far more, has to stay fast.
  ClockProblem problem{.costs = {{5, 6}, {1, 100}}};
  problem.is_schedulable = [](const ClockLevels& clocks) { return clocks[0] + clocks[1] >= 1; };
  EXPECT_EQ(greedy_clocks(problem).cost, 105);
  EXPECT_EQ(search_clocks(problem).cost, 7);
  EXPECT_EQ(exhaustive_clocks(problem).cost, 7);
}

TEST(Clocks, the_search_is_as_cheap_as_every_combination_and_never_misses_a_deadline) {
  int feasible = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const ClockProblem problem = chain_problem(seed, {8, 14, 10});
    const ClockResult found = search_clocks(problem), all = exhaustive_clocks(problem);
    EXPECT_EQ(found.schedulable, all.schedulable) << seed;
    if (!all.schedulable) continue;
    ++feasible;
    EXPECT_DOUBLE_EQ(found.cost, all.cost) << seed;
    EXPECT_TRUE(problem.is_schedulable(found.clocks)) << seed;
    EXPECT_LT(found.checks * 8, all.checks) << seed;
  }
  EXPECT_GT(feasible, 100);
}

TEST(Clocks, greedy_never_misses_a_deadline_and_is_never_cheaper_than_all) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const ClockProblem problem = chain_problem(seed, {4, 5, 3});
    const ClockResult found = greedy_clocks(problem), all = exhaustive_clocks(problem);
    EXPECT_EQ(found.schedulable, all.schedulable) << seed;
    if (!found.schedulable) continue;
    EXPECT_TRUE(problem.is_schedulable(found.clocks)) << seed;
    EXPECT_GE(found.cost, all.cost - 1e-9) << seed;
  }
}

TEST(Clocks, the_search_finds_the_cheapest_where_a_lower_clock_costs_more) {
  ClockProblem problem{.costs = {{9, 4, 6}}};
  problem.is_schedulable = [](const ClockLevels&) { return true; };
  EXPECT_EQ(search_clocks(problem).clocks, (ClockLevels{1}));
  EXPECT_EQ(greedy_clocks(problem).clocks, (ClockLevels{1}));
}

TEST(Clocks, nothing_is_found_where_the_highest_clocks_miss) {
  ClockProblem problem{.costs = {{1, 2}, {1, 2}}};
  problem.is_schedulable = [](const ClockLevels&) { return false; };
  for (const auto search : {greedy_clocks, search_clocks, exhaustive_clocks})
    EXPECT_FALSE(search(problem).schedulable);
}

TEST(Clocks, devices_are_ordered_by_how_much_they_save) {
  EXPECT_EQ(by_reduction({{5, 6}, {1, 10}, {2, 4}}), (std::vector<std::size_t>{1, 2, 0}));
}

}  // namespace
}  // namespace millrace::explore
