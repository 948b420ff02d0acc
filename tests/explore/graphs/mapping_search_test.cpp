#include "explore/graphs/mapping_search.h"

#include <gtest/gtest.h>

#include "explore/system/settings.h"
#include "explore/systems.h"
#include "support/message_of.h"
#include "system/random_graph.h"

namespace millrace::explore {
namespace {

using std::chrono::milliseconds;

/// Networks in the first groups, a graph in the others; all at once.
struct SmallCase {
  board::Board board = test::small_board();
  system::System system;
  std::vector<std::vector<GroupPlan>> plans;

  explicit SmallCase(std::size_t groups) {
    std::vector<std::size_t> all;
    for (std::size_t g = 0; g < groups; ++g) all.push_back(g);
    system = test::system_of(groups, {all});
    plans.resize(groups);
  }

  void add_task(std::size_t group, const std::string& name,
                const std::vector<std::pair<std::string, Time>>& on) {
    system::GraphTask task{.name = name, .on = {}};
    for (const auto& [processor, time] : on) task.on.push_back({processor, time, time, time});
    system.groups[group].graph.tasks.push_back(std::move(task));
  }

  MappingProblem problem() const { return mapping_problem(system, board, plans); }
};

SmallCase random_case(std::uint64_t seed) {
  SmallCase result(3);
  for (std::size_t g = 0; g < 2; ++g) {
    result.system.groups[g].model.file = "net";
    result.plans[g] = test::random_plans(3, seed + 100 * g);
  }
  system::RandomGraph graph{.tasks = 5, .times = {}, .seed = seed};
  graph.times = {{"cpu", {milliseconds(1), milliseconds(5)}},
                 {"gpu", {Time(200'000), milliseconds(1)}}};
  graph.most_rate = 2;
  result.system.groups[2].graph = system::random_graph(graph);
  if (seed % 4 == 0) result.system.release_cost = Time(50'000);
  return result;
}

CombineOptions options() {
  CombineOptions result;
  result.population = 32;
  result.generations = 60;
  result.patience = 20;
  return result;
}

TEST(grafted, puts_the_plans_tasks_in_the_place_of_the_network) {
  SmallCase given(1);
  given.system.groups[0].model.file = "net";
  given.plans[0] = {test::chain_plan({{"npu0", milliseconds(1)}, {"gpu", milliseconds(2)}})};
  given.add_task(0, "before", {{"cpu", milliseconds(1)}});
  given.add_task(0, "after", {{"cpu", milliseconds(1)}});
  given.system.groups[0].graph.edges = {{0, 2}, {2, 1, 2, 1}};
  const MappingProblem problem = given.problem();
  Mapping mapping{{0}, place_networks(problem, {0}), {1, 0}};
  const deployment::Assignment made = grafted(problem, mapping, system::GroupId(0));
  std::vector<std::string> names;
  for (const deployment::Task& task : made.tasks) names.push_back(task.name + "@" + task.processor);
  EXPECT_EQ(names, (std::vector<std::string>{"before@core1", "stage0@npu0", "stage1@gpu",
                                             "after@core0", "after.1@core0"}));
  EXPECT_EQ(made.tasks[1].after, (std::vector<std::size_t>{0}));
  EXPECT_EQ(made.tasks[2].after, (std::vector<std::size_t>{1}));
  EXPECT_EQ(made.tasks[3].after, (std::vector<std::size_t>{2}));
  EXPECT_EQ(made.tasks[4].after, (std::vector<std::size_t>{2, 3}));
}

TEST(map_tasks, gives_the_longest_task_first_to_the_least_used_processor_of_the_better_kind) {
  SmallCase given(1);  // 50 frames a second: 20 ms
  given.add_task(0, "short", {{"cpu", milliseconds(2)}});
  given.add_task(0, "long", {{"cpu", milliseconds(8)}, {"gpu", milliseconds(6)}});
  given.add_task(0, "middle", {{"cpu", milliseconds(4)}, {"gpu", milliseconds(3)}});
  const MappingProblem problem = given.problem();
  Mapping mapping{{0}, place_networks(problem, {0}), {}};
  map_tasks(problem, mapping);
  const auto processor_of = [&](std::size_t task) {
    return problem.board.processors[problem.tasks[task].places[mapping.tasks[task]].processor].name;
  };
  EXPECT_EQ(processor_of(1), "gpu");    // 0.3 instead of 0.4
  EXPECT_EQ(processor_of(2), "core0");  // 0.2 instead of 0.45
  EXPECT_EQ(processor_of(0), "core1");
  EXPECT_DOUBLE_EQ(MappingEvaluator(problem).value(mapping).utilisation, 0.3);
}

TEST(place_networks, gives_stages_to_equal_processors_the_longest_first) {
  SmallCase given(3);
  for (std::size_t g = 0; g < 3; ++g) {
    given.system.groups[g].model.file = "net";
    given.plans[g] = {test::chain_plan({{"npu0", milliseconds(1 + static_cast<int>(g))}})};
  }
  const MappingProblem problem = given.problem();
  const Placement placed = place_networks(problem, {0, 0, 0});
  EXPECT_EQ(problem.board.processors[placed[2][0]].name, "npu0");
  EXPECT_EQ(problem.board.processors[placed[1][0]].name, "npu1");
  EXPECT_EQ(problem.board.processors[placed[0][0]].name, "npu0");
}

TEST(place_networks, gives_no_processor_two_stages_of_one_network) {
  SmallCase given(2);
  given.system.groups[0].model.file = given.system.groups[1].model.file = "net";
  given.plans[0] = {test::chain_plan({{"npu0", milliseconds(5)}, {"npu1", milliseconds(1)}})};
  given.plans[1] = {test::chain_plan({{"npu0", milliseconds(3)}})};
  const Placement placed = place_networks(given.problem(), {0, 0});
  EXPECT_NE(placed[0][0], placed[0][1]);
}

TEST(mapping_search, without_room_it_says_the_nearest_mapping) {
  SmallCase given(3);  // two subnets fit on the accelerators
  for (std::size_t g = 0; g < 3; ++g) {
    given.system.groups[g].model.file = "net";
    given.plans[g] = {test::chain_plan({{"npu0", milliseconds(1)}})};
  }
  const MappingProblem problem = given.problem();
  const MappingResult found = best_entire_mapping(problem, options());
  EXPECT_FALSE(found.value.feasible);
  EXPECT_EQ(MappingEvaluator(problem).subnets_over(found.mapping), 1u);
}

TEST(mapping_by_groups, keeps_each_group_on_a_processor_of_its_own) {
  SmallCase given(3);
  for (std::size_t g = 0; g < 2; ++g) {
    given.system.groups[g].model.file = "net";
    given.plans[g] = {
        test::chain_plan({{"core0", milliseconds(1)}, {"core1", milliseconds(1)}}),
        test::chain_plan({{"core0", milliseconds(9)}})};
    given.add_task(g, "before", {{"cpu", milliseconds(1)}});
    given.add_task(g, "on_gpu", {{"gpu", milliseconds(1)}});
    given.system.groups[g].graph.edges = {{0, 2}, {2, 1}};
  }
  given.add_task(2, "alone", {{"cpu", milliseconds(1)}, {"npu", milliseconds(1)}});
  const MappingProblem problem = given.problem();
  const Mapping mapping = mapping_by_groups(problem);
  EXPECT_EQ(mapping.plans, (Combination{1, 1, 0}));
  EXPECT_NE(mapping.stages[0], mapping.stages[1]);
  const auto processor_of = [&](std::size_t task) {
    return problem.tasks[task].places[mapping.tasks[task]].processor;
  };
  EXPECT_EQ(processor_of(0), mapping.stages[0].front());
  EXPECT_EQ(processor_of(2), mapping.stages[1].front());
  EXPECT_EQ(problem.board.processors[processor_of(4)].name, "npu0");  // the others have work
  const auto shares = utilisations_of(problem, mapping, {system::GroupId(0)});
  EXPECT_DOUBLE_EQ(shares[mapping.stages[0].front()], 0.5);
}

// With groups of ten tasks each on two cores, few mappings but whole groups on a core are in time.
TEST(mapping_search, finds_what_only_whole_groups_make_possible) {
  SmallCase given(2);
  for (std::size_t g = 0; g < 2; ++g) {
    given.system.groups[g].model.file = "net";
    given.plans[g] = {test::chain_plan({{g == 0 ? "core0" : "core1", milliseconds(9)}})};
    for (int t = 0; t < 9; ++t) {
      given.add_task(g, "t" + std::to_string(t), {{"cpu", milliseconds(1)}});
      given.system.groups[g].graph.edges.push_back(
          {static_cast<std::size_t>(t), static_cast<std::size_t>(t + 1)});
    }
  }
  const MappingProblem problem = given.problem();
  CombineOptions few = options();
  few.population = 4;
  few.generations = 2;
  EXPECT_TRUE(best_entire_mapping(problem, few).value.feasible);  // 18 of 20 ms on each core
  EXPECT_FALSE(entire_mapping(problem, few, false).value.feasible);
}

TEST(fastest_mapping, has_each_plan_and_task_where_it_ends_first) {
  SmallCase given(1);
  given.system.groups[0].model.file = "net";
  given.plans[0] = {test::chain_plan({{"npu0", milliseconds(2)}, {"gpu", milliseconds(2)}}),
                    test::chain_plan({{"gpu", milliseconds(3)}})};
  given.add_task(0, "after", {{"cpu", milliseconds(5)}, {"gpu", milliseconds(1)}});
  given.system.groups[0].graph.edges = {{1, 0}};
  const MappingProblem problem = given.problem();
  const Mapping fastest = fastest_mapping(problem);
  EXPECT_EQ(fastest.plans, (Combination{1}));
  EXPECT_EQ(alone_at_worst(grafted(problem, fastest, system::GroupId(0))), milliseconds(4));
}

TEST(least_utilisation, of_a_task_that_fits_nowhere_is_above_one) {
  SmallCase given(1);
  given.add_task(0, "a", {{"cpu", milliseconds(30)}});
  EXPECT_DOUBLE_EQ(least_utilisation(given.problem()), 1.5);
}

TEST(mapping_search, no_mapping_is_below_the_bound_and_none_beats_the_exhaustive_search) {
  std::size_t found = 0, reached = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const SmallCase given = random_case(seed);
    const MappingProblem problem = given.problem();
    const double bound = least_utilisation(problem);
    const auto optimum = exhaustive_mapping(problem, 2'000'000);
    const MappingResult heuristic = heuristic_mapping(problem, options());
    const MappingResult entire = entire_mapping(problem, options());
    const MappingResult unseeded = entire_mapping(problem, options(), false);
    const MappingResult better = best_entire_mapping(problem, options());
    EXPECT_EQ(better.value.feasible, entire.value.feasible || unseeded.value.feasible) << seed;
    for (const MappingResult& each : {entire, unseeded})
      EXPECT_TRUE(!each.value.feasible || better.value.utilisation <= each.value.utilisation);
    EXPECT_GT(bound, 0);
    for (const MappingResult& each : {heuristic, entire, better}) {
      if (!each.value.feasible) continue;
      EXPECT_GE(each.value.utilisation, bound - 1e-9) << seed;
      ASSERT_TRUE(optimum) << seed;
      EXPECT_GE(each.value.utilisation, bound - 1e-9);
      EXPECT_EQ(MappingEvaluator(problem).value(each.mapping).utilisation, each.value.utilisation);
    }
    if (heuristic.value.feasible) {
      EXPECT_LE(entire.value.utilisation, heuristic.value.utilisation) << seed;
    }
    if (!optimum) continue;
    ++found;
    EXPECT_GE(optimum->value.utilisation, bound - 1e-9);
    reached += entire.value.feasible && entire.value.utilisation <= optimum->value.utilisation;
  }
  EXPECT_GE(found, 10u);
  EXPECT_GE(10 * reached, 9 * found);
}

TEST(mapping_search, a_deadline_that_nothing_keeps_is_infeasible_for_every_method) {
  SmallCase given(1);
  given.add_task(0, "a", {{"cpu", milliseconds(15)}});
  given.add_task(0, "b", {{"cpu", milliseconds(15)}});
  given.system.groups[0].graph.edges = {{0, 1}};
  const MappingProblem problem = given.problem();
  for (const MappingMethod& method : mapping_methods()) {
    const MappingResult result = method.run(problem, options());
    EXPECT_FALSE(result.value.feasible) << method.name;
    EXPECT_GE(result.value.demand, 1.5) << method.name;
  }
  EXPECT_FALSE(exhaustive_mapping(problem, 1000));
}

TEST(mapping_search, the_sequential_search_keeps_the_plans_that_were_best_without_tasks) {
  SmallCase given(2);
  given.system.groups[0].model.file = "net";
  given.plans[0] = {test::chain_plan({{"gpu", milliseconds(8)}}),
                    test::chain_plan({{"npu0", milliseconds(9)}})};
  given.add_task(1, "a", {{"gpu", milliseconds(5)}});
  const MappingProblem problem = given.problem();
  EXPECT_NEAR(sequential_mapping(problem, options()).value.utilisation, 13.0 / 20, 1e-9);
  EXPECT_NEAR(entire_mapping(problem, options()).value.utilisation, 9.0 / 20, 1e-9);
}

TEST(mapping_problem, names_the_task_whose_processor_the_board_lacks) {
  SmallCase given(1);
  given.add_task(0, "a", {{"tpu", milliseconds(1)}});
  EXPECT_NE(millrace::test::message_of([&] { given.problem(); }).find("'tpu'"), std::string::npos);
}

}  // namespace
}  // namespace millrace::explore
