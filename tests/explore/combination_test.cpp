#include "explore/system/combination.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "explore/system/placement.h"
#include "explore/system/scene_system.h"
#include "systems.h"

namespace millrace::explore {
namespace {

using namespace std::chrono_literals;
using namespace test;

CombineOptions few_generations() { return {.population = 24, .generations = 200, .patience = 40}; }

TEST(Combination, power_is_static_of_all_processors_and_dynamic_by_busy_time) {
  const board::Board board = small_board();
  const system::System system = system_of(1, {{0}});
  CombinationProblem problem{system, board, {{chain_plan({{"gpu", 5ms}})}}, scenes_of(system)};
  problem.clocks = ClockSearch::none;
  const Combined found = assess(problem, {0});
  EXPECT_TRUE(found.feasible);
  // 2 * 20 of cores, 200 + 8000 * 5 / 20 of the GPU, 2 * 20 of accelerators.
  EXPECT_NEAR(found.power_mw, 2280, 1e-6);
  problem.clocks = ClockSearch::search;  // at 500 MHz: 10 ms of 20 ms
  EXPECT_NEAR(assess(problem, {0}).power_mw, 20 + 100 + 2000 * 0.5 + 20, 1e-6);
}

TEST(Combination, a_deadline_keeps_clocks_high) {
  const board::Board board = small_board();
  system::System system = system_of(1, {{0}});
  system.groups[0].deadline = 7ms;
  CombinationProblem problem{system, board, {{chain_plan({{"gpu", 5ms}})}}, scenes_of(system)};
  const Combined found = assess(problem, {0});
  ASSERT_TRUE(found.feasible);
  EXPECT_EQ(found.scenes[0].clocks, (ClockLevels{0, 1, 0}));  // 5 ms * 4 / 3 = 6.7 ms
  system.overhead = 1ms;
  EXPECT_EQ(assess(problem, {0}).scenes[0].clocks, (ClockLevels{0, 2, 0}));
}

TEST(Combination, releases_keep_the_clocks_of_cores_high) {
  const board::Board board = small_board();
  system::System system = system_of(1, {{0}});
  system.groups[0].deadline = 11ms;
  CombinationProblem problem{system, board, {{chain_plan({{"core0", 5ms}})}}, scenes_of(system)};
  EXPECT_EQ(assess(problem, {0}).scenes[0].clocks[0], 0u);  // 10 ms
  system.release_cost = 600us;                              // 11.2 ms
  EXPECT_EQ(assess(problem, {0}).scenes[0].clocks[0], 1u);
  system.release_cost = 7ms;
  EXPECT_FALSE(assess(problem, {0}).feasible);
}

TEST(Combination, scenarios_count_by_their_shares) {
  const board::Board board = small_board();
  system::System system = system_of(2, {{0}, {0, 1}});
  system.scenarios[0].share = 0.75;
  system.scenarios[1].share = 0.25;
  const std::vector<GroupPlan> plans{chain_plan({{"gpu", 2ms}})};
  CombinationProblem problem{system, board, {plans, plans}, scenes_of(system)};
  problem.clocks = ClockSearch::none;
  const Combined found = assess(problem, {0, 0});
  EXPECT_NEAR(found.power_mw, 280 + 8000 * (0.75 * 0.1 + 0.25 * 0.2), 1e-6);
}

TEST(Combination, stages_come_round_robin_the_longest_on_an_accelerator_first) {
  const board::Board board = small_board();
  const system::System system = system_of(3, {{0}, {1, 2}});
  const CombinationProblem problem{system,
                                   board,
                                   {{chain_plan({{"npu0", 1ms}, {"gpu", 1ms}})},
                                    {chain_plan({{"npu0", 3ms}, {"gpu", 1ms}})},
                                    {chain_plan({{"npu0", 2ms}, {"gpu", 1ms}})}},
                                   scenes_of(system)};
  const Placement placement = place_stages(problem, {0, 0, 0});
  EXPECT_EQ(board.processors[placement[1][0]].name, "npu0");
  EXPECT_EQ(board.processors[placement[2][0]].name, "npu1");
  EXPECT_EQ(board.processors[placement[0][0]].name, "npu0");
  EXPECT_EQ(board.processors[placement[0][1]].name, "gpu");
}

TEST(Combination, phases_of_a_stage_stay_on_its_processor) {
  const board::Board board = small_board();
  const system::System system = system_of(1, {{0}});
  GroupPlan plan = chain_plan({{"npu0", 1ms}, {"gpu", 1ms}, {"npu0", 1ms}, {"npu1", 1ms}});
  plan.assignment.tasks[2].stage = 0;
  const CombinationProblem problem{system, board, {{plan}}, scenes_of(system)};
  const Placement placement = place_stages(problem, {0});
  EXPECT_EQ(placement[0][0], placement[0][2]);
  EXPECT_NE(placement[0][0], placement[0][3]);
}

TEST(Combination, a_device_has_room_for_so_many_subnets_of_all_scenarios) {
  const board::Board board = small_board();  // two
  const system::System system = system_of(3, {{0}, {1}, {2}});
  const GroupPlan with_npu = chain_plan({{"npu0", 1ms}, {"gpu", 1ms}});
  const GroupPlan without = chain_plan({{"gpu", 6ms}});
  const std::vector<GroupPlan> plans{with_npu, without};
  CombinationProblem problem{system, board, {plans, plans, plans}, scenes_of(system)};
  EXPECT_FALSE(assess(problem, {0, 0, 0}).feasible);
  EXPECT_TRUE(assess(problem, {0, 0, 1}).feasible);
  const Combined found = genetic_combination(problem, few_generations());
  ASSERT_TRUE(found.feasible);
  EXPECT_EQ(std::ranges::count(found.combination, 1u), 1);
}

TEST(Combination, the_genetic_search_finds_its_way_to_where_there_is_room) {
  const board::Board board = small_board();  // for two
  std::vector<std::vector<std::size_t>> scenarios;
  for (std::size_t g = 0; g < 16; ++g) scenarios.push_back({g});
  const system::System system = system_of(16, scenarios);
  std::vector<GroupPlan> plans(5, chain_plan({{"npu0", 1ms}, {"gpu", 1ms}}));
  plans.push_back(chain_plan({{"gpu", 6ms}}));
  CombinationProblem problem{system, board, {16, plans}, scenes_of(system)};
  problem.clocks = ClockSearch::none;
  const Combined found = genetic_combination(problem, few_generations());
  ASSERT_TRUE(found.feasible);
  EXPECT_EQ(std::ranges::count(found.combination, 5u), 14);
  EXPECT_EQ(subnets_too_many(problem, groups_of(problem), Combination(16, 0),
                             place_stages(problem, Combination(16, 0))),
            14u);
}

TEST(Combination, the_exact_search_is_as_good_as_every_combination) {
  const board::Board board = small_board();
  const system::System system = system_of(3, {{0, 1}, {1, 2}, {0, 2}});
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CombinationProblem problem{system, board, {}, scenes_of(system)};
    for (std::uint64_t g = 0; g < 3; ++g) problem.plans.push_back(random_plans(4, 10 * seed + g));
    const Combined exact = exact_combination(problem, {});
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < 64; ++c)
      least = std::min(least, assess(problem, {c % 4, c / 4 % 4, c / 16}).power_mw);
    EXPECT_LE(exact.power_mw, least * (1 + 1e-9)) << seed;  // it also chooses accelerators
    EXPECT_DOUBLE_EQ(exact.bound_mw, exact.power_mw) << seed;
    const Combined again = assess(problem, exact.combination, exact.placement);
    EXPECT_TRUE(again.feasible) << seed;
    EXPECT_DOUBLE_EQ(again.power_mw, exact.power_mw) << seed;
  }
}

/// The least power of these plans with their stages on whichever cores.
double least_on_any_cores(const CombinationProblem& problem, const Combination& combination) {
  double least = std::numeric_limits<double>::infinity();
  const std::size_t tasks = 4;  // on one of two cores each
  for (std::size_t cores = 0; cores < (std::size_t{1} << tasks); ++cores) {
    Placement placement;
    std::size_t next = 0;
    for (std::size_t g = 0; g < combination.size(); ++g) {
      std::vector<std::size_t>& of_group = placement.emplace_back();
      for (const auto& task : problem.plans[g][combination[g]].assignment.tasks)
        of_group.push_back(task.processor == "gpu" ? 2 : cores >> next++ & 1);
    }
    least = std::min(least, assess(problem, combination, placement).power_mw);
  }
  return least;
}

TEST(Combination, nothing_on_any_cores_draws_less_than_the_bound) {
  const board::Board board = small_board();
  const system::System system = system_of(2, {{0, 1}});
  Random random(3);
  int feasible = 0;
  for (int i = 0; i < 12; ++i) {
    CombinationProblem problem{system, board, {}, scenes_of(system)};
    const auto time = [&] { return Time(std::chrono::milliseconds(1 + random.below(6))); };
    for (int g = 0; g < 2; ++g) {
      auto& plans = problem.plans.emplace_back();
      for (int p = 0; p < 2; ++p)
        plans.push_back(chain_plan({{"core0", time()}, {"gpu", time()}, {"core0", time()}}));
    }
    const Combined exact = exact_combination(problem, {});
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < 4; ++c)
      least = std::min(least, least_on_any_cores(problem, {c % 2, c / 2}));
    EXPECT_LE(exact.bound_mw, least * (1 + 1e-9)) << i;
    feasible += exact.feasible ? 1 : 0;
  }
  EXPECT_GE(feasible, 3);
}

TEST(Combination, steps_may_have_cores_of_each_device) {
  board::Board board = small_board();
  board::Device little = device_at("little", board::ProcessorKind::cpu, {"core4", "core5"});
  little.cores = {4, 5};
  board.devices.push_back(little);
  for (const board::Processor& processor : processors_of(little))
    board.processors.push_back(processor);
  GroupPlan plan = chain_plan({{"core0", 1ms}, {"gpu", 2ms}, {"core0", 1ms}});
  plan.assignment.tasks[0].step = deployment::Step::preprocess;
  plan.assignment.tasks[2].step = deployment::Step::postprocess;
  std::vector<std::string> found;
  for (const GroupPlan& each : with_steps_on_each_device(board, {plan}))
    found.push_back(each.assignment.tasks[0].processor + " " + each.assignment.tasks[2].processor);
  EXPECT_EQ(found, (std::vector<std::string>{"core0 core0", "core4 core0", "core0 core4",
                                             "core4 core4"}));
}

TEST(Combination, the_genetic_search_finds_the_best_of_what_round_robin_allows) {
  const board::Board board = small_board();
  const system::System system = system_of(3, {{0, 1}, {0, 1, 2}});
  int feasible = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CombinationProblem problem{system, board, {}, scenes_of(system)};
    for (std::uint64_t g = 0; g < 3; ++g) problem.plans.push_back(random_plans(5, 20 * seed + g));
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < 125; ++c)
      least = std::min(least, assess(problem, {c % 5, c / 5 % 5, c / 25}).power_mw);
    const Combined found = genetic_combination(problem, few_generations());
    EXPECT_EQ(found.power_mw, least) << seed;
    const Combined exact = exact_combination(problem, {});
    EXPECT_LE(exact.power_mw, found.power_mw) << seed;
    EXPECT_LE(exact.bound_mw, exact.power_mw) << seed;
    feasible += found.feasible ? 1 : 0;
  }
  EXPECT_GE(feasible, 3);
}

TEST(Combination, an_exact_search_that_ends_early_has_a_bound_below_what_it_was_given) {
  const board::Board board = small_board();
  const system::System system = system_of(3, {{0, 1}, {0, 1, 2}});
  CombinationProblem problem{system, board, {}, scenes_of(system)};
  for (std::uint64_t g = 0; g < 3; ++g) problem.plans.push_back(random_plans(6, 60 + g));
  const Combined known = genetic_combination(problem, few_generations());
  ASSERT_TRUE(known.feasible);
  CombineOptions few;
  few.most_nodes = 5;
  const Combined early = exact_combination(problem, few, &known);
  const Combined exact = exact_combination(problem, {}, &known);
  EXPECT_LE(early.power_mw, known.power_mw);
  EXPECT_LE(early.bound_mw, exact.power_mw);
  EXPECT_GT(early.bound_mw, 0);
}

TEST(Combination, every_deadline_holds_at_the_clocks_that_are_found) {
  const board::Board board = small_board();
  const system::System system = system_of(3, {{0, 1}, {0, 1, 2}, {2}});
  int feasible = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CombinationProblem problem{system, board, {}, scenes_of(system)};
    for (std::uint64_t g = 0; g < 3; ++g)
      problem.plans.push_back(random_plans(1 + g, 9 * seed + g));
    const Combined found = assess(problem, {0, seed % 2, seed % 3});
    if (!found.feasible) continue;
    ++feasible;
    for (std::size_t s = 0; s < found.scenes.size(); ++s) {
      SceneSystem tasks(problem, problem.scenes[s], found.combination, found.placement);
      const realtime::TaskSystem at = tasks.at(found.scenes[s].clocks);
      EXPECT_TRUE(realtime::is_schedulable(at, realtime::analyse(at))) << seed;
    }
  }
  EXPECT_GE(feasible, 10);
}

TEST(Combination, the_printed_algorithm_and_every_combination_of_clocks_agree_with_the_search) {
  const board::Board board = small_board();
  const system::System system = system_of(3, {{0, 1}, {0, 1, 2}});
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CombinationProblem problem{system, board, {}, scenes_of(system)};
    for (std::uint64_t g = 0; g < 3; ++g) problem.plans.push_back(random_plans(2, 7 * seed + g));
    const Combined search = assess(problem, {1, 0, 1});
    problem.clocks = ClockSearch::exhaustive;
    const Combined all = assess(problem, {1, 0, 1});
    EXPECT_EQ(search.feasible, all.feasible) << seed;
    EXPECT_EQ(search.power_mw, all.power_mw) << seed;
    problem.clocks = ClockSearch::greedy;
    EXPECT_GE(assess(problem, {1, 0, 1}).power_mw, all.power_mw - 1e-9) << seed;
  }
}

}  // namespace
}  // namespace millrace::explore
