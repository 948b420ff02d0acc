#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "analysis/schedulability.h"
#include "explore/contexts.h"
#include "explore/system/methods.h"
#include "explore/system/placement.h"
#include "explore/system/scene_system.h"
#include "explore/system/settings.h"
#include "systems.h"

namespace millrace::explore {
namespace {

using namespace std::chrono_literals;
using test::chain_plan;

CombineOptions brief() { return {.population = 24, .generations = 100, .patience = 30}; }

/// Three groups that may go to the GPU or mostly to an accelerator; estimates are too low.
MethodCase three_groups(const system::System& system, const board::Board& board) {
  MethodCase given{system, board, {}};
  for (std::size_t g = 0; g < system.groups.size(); ++g) {
    given.plans.push_back({chain_plan({{"gpu", 6ms}}), chain_plan({{"npu0", 8ms}, {"gpu", 2ms}})});
    given.estimated.push_back(
        {chain_plan({{"gpu", 6ms}}), chain_plan({{"npu0", 6ms}, {"gpu", 2ms}})});
  }
  return given;
}

TEST(DeployMethods, the_highest_rate_of_one_plan_is_that_of_its_response) {
  const board::Board board = test::small_board();
  const system::System system = test::system_of(2, {{0, 1}});
  MethodCase given{system, board, {{chain_plan({{"gpu", 4ms}})}, {chain_plan({{"gpu", 4ms}})}}};
  const MaxRate found = max_rate(*deploy_method_named("PR"), given, brief());
  EXPECT_EQ(found.fps, 125);  // 4 ms and 4 ms of the other
  EXPECT_TRUE(found.result.feasible);
}

/// The highest whole rate of the fastest group by the analysis of a deployment of the only plans.
double rate_by_analysis(const MethodCase& given) {
  deployment::Deployment deployment;
  deployment.system = given.system;
  for (const std::vector<GroupPlan>& plans : given.plans)
    deployment.assignments.push_back(plans.front().assignment);
  const auto rates = analysis::largest_rates(deployment, given.board);
  const double factor = rates ? static_cast<double>(rates->millionths) / 1e6 : 0;
  return std::floor(fastest_fps(given.system) * factor);
}

TEST(DeployMethods, a_deadline_of_the_groups_own_stays_at_other_rates_as_in_the_analysis) {
  const board::Board board = test::small_board();
  system::System system = test::system_of(2, {{0, 1}});
  system.groups[0].deadline = 15ms;
  MethodCase given{system, board, {{chain_plan({{"gpu", 4ms}})}, {chain_plan({{"gpu", 4ms}})}}};
  EXPECT_EQ(max_rate(*deploy_method_named("PR"), given, brief()).fps, 125);
  EXPECT_EQ(rate_by_analysis(given), 125);
}

TEST(DeployMethods, no_period_is_shorter_than_the_deadline_where_a_frame_waits_for_the_last) {
  const board::Board board = test::small_board();
  system::System system = test::system_of(1, {{0}});
  system.groups[0].deadline = 15ms;
  GroupPlan two_phases = chain_plan({{"gpu", 2ms}, {"gpu", 2ms}});
  two_phases.assignment.tasks[1].stage = 0;
  two_phases.assignment.tasks[1].phase = 1;
  const MethodCase given{system, board, {{two_phases}}};
  EXPECT_EQ(max_rate(*deploy_method_named("PR"), given, brief()).fps, 66);
  EXPECT_EQ(rate_by_analysis(given), 66);
}

TEST(DeployMethods, more_freedom_never_lowers_the_highest_rate) {
  const board::Board board = test::small_board();
  const system::System system = test::system_of(3, {{0, 1}, {1, 2}, {0, 2}});
  const MethodCase given = three_groups(system, board);
  std::map<std::string, MaxRate> found;
  for (const DeployMethod& method : deploy_methods())
    found[method.name] = max_rate(method, given, brief());
  EXPECT_GE(found["LC"].fps, found["PR"].fps);
  EXPECT_GE(found["PR"].fps, found["BS"].fps);
  EXPECT_GE(found["PR"].fps, found["GB"].fps);
  EXPECT_EQ(found["GB"].fps, found["PR-GB"].fps);
  EXPECT_GE(found["GB"].together_fps, found["SOTA"].together_fps);
  EXPECT_GE(found["SOTA"].believed_fps, found["SOTA"].together_fps);
  EXPECT_EQ(found["BS"].fps, 83);  // 12 ms
}

TEST(DeployMethods, what_is_on_one_processor_is_found_among_all_plans) {
  const board::Board board = test::small_board();
  const system::System system = test::system_of(2, {{0, 1}});
  MethodCase given = three_groups(system, board);
  for (std::size_t g = 0; g < 2; ++g) std::swap(given.plans[g][0], given.plans[g][1]);
  given.plans[1].insert(given.plans[1].begin() + 1, chain_plan({{"gpu", 9ms}}));
  const DeployMethod& method = *deploy_method_named("BS");
  const MethodResult found = run_method({method, given, {0, 1}}, brief());
  ASSERT_TRUE(found.feasible);
  EXPECT_EQ(found.found.front().combination, (Combination{1, 2}));
  const MaxRate rate = max_rate(method, given, brief());
  EXPECT_EQ(rate.fps, 83);  // 12 ms
  EXPECT_EQ(rate.result.found.front().combination, (Combination{1, 2}));
}

TEST(DeployMethods, clocks_by_scenario_save_power_beside_the_highest) {
  const board::Board board = test::small_board();
  const system::System system = test::system_of(3, {{0, 1}, {1, 2}, {0, 1, 2}});
  const MethodCase given = three_groups(system, board);
  const auto power = [&](const char* name) {
    return run_method({*deploy_method_named(name), given, {0, 0.5}}, brief()).power_mw;
  };
  EXPECT_LT(power("PR"), 0.8 * power("GB"));
  EXPECT_LE(power("PR"), power("PR-GB"));
  EXPECT_LE(power("LC"), power("PR"));
}

TEST(DeployMethods, estimates_are_times_of_the_gpu_times_the_mean_ratio) {
  board::Board board = test::accelerated_board(1);
  Problem problem;
  problem.layers = 2;
  problem.processors = 2;
  problem.time = problem.alone = {{10, 20}, {30, 120}};  // twice and four times
  const Problem estimated = estimated_problem(problem, board);
  EXPECT_DOUBLE_EQ(estimated.time[0][1], 30);
  EXPECT_DOUBLE_EQ(estimated.time[1][1], 90);
  EXPECT_DOUBLE_EQ(estimated.time[1][0], 30);
}

/// Decided and placed, with settings for two levels.
struct SmallDeployment {
  board::Board board = test::small_board();
  system::System system = test::system_of(2, {{0}, {0, 1}});
  CombinationProblem problem{system, board, {}, {}};
  deployment::Deployment deployment;
  Combined decided;

  SmallDeployment() {
    system.levels = 2;
    for (system::Group& group : system.groups) group.rates = {20, 60};
    GroupPlan kernels = chain_plan({{"npu0", 3ms}, {"gpu", 4ms}});
    kernels.assignment.tasks[1].kernels = {1ms, 3ms};
    problem.plans = {{kernels}, {chain_plan({{"core0", 1ms}, {"gpu", 3ms}})}};
    problem.scenes = scenes_of(system);
    problem.level = 1;
    decided = assess(problem, {0, 0});
    deployment.system = system;
    for (std::size_t g = 0; g < 2; ++g) {
      deployment::Assignment assignment = problem.plans[g][0].assignment;
      for (std::size_t t = 0; t < assignment.tasks.size(); ++t)
        assignment.tasks[t].processor = board.processors[decided.placement[g][t]].name;
      deployment.assignments.push_back(assignment);
    }
  }
  SmallDeployment(const SmallDeployment&) = delete;
};

TEST(Settings, the_search_and_the_deployment_have_one_task_system) {
  SmallDeployment small;
  const std::vector<ClockLevels> all{{0, 1, 2}, {2, 2, 2}, {1, 0, 0}};
  for (const ClockLevels& clocks : all) {
    SceneSystem scene(small.problem, small.problem.scenes[1], {0, 0}, small.decided.placement);
    deployment::Operation operation{system::ScenarioId(1), 1};
    for (std::size_t d = 0; d < clocks.size(); ++d)
      operation.clocks[small.board.devices[d].name] = small.board.devices[d].clocks[clocks[d]];
    EXPECT_EQ(scene.at(clocks), task_system(small.deployment, small.board, operation));
  }
}

TEST(Settings, the_search_and_the_deployment_count_the_same_budgets) {
  for (const bool is_aperiodic : {false, true}) {
    SmallDeployment small;
    for (system::System* system : {&small.system, &small.deployment.system}) {
      system->groups[0].budget = {.time = 10ms, .every = 70ms};
      system->groups[0].events.aperiodic = is_aperiodic;
      system->groups[1].budget = {.time = 3ms};  // less than a frame
    }
    SceneSystem scene(small.problem, small.problem.scenes[1], {0, 0}, small.decided.placement);
    deployment::Operation operation{system::ScenarioId(1), 1};
    const realtime::TaskSystem tasks = task_system(small.deployment, small.board, operation);
    EXPECT_EQ(scene.at_highest(), tasks);
    EXPECT_EQ(tasks.flows[0].limit.has_value(), !is_aperiodic);
    EXPECT_EQ(tasks.flows[1].limit->events, 1);
    EXPECT_GT(tasks.tasks[0].worst, 3ms);  // as long as the budget allows
  }
}

TEST(Settings, the_search_and_the_deployment_have_the_same_releases) {
  SmallDeployment small;
  small.system.release_cost = small.deployment.system.release_cost = 100us;
  small.problem.plans[0] = small.problem.plans[1];  // a core and the GPU
  for (std::size_t t = 0; t < 2; ++t)
    small.deployment.assignments[0].tasks[t] = small.problem.plans[0][0].assignment.tasks[t];
  const std::vector<ClockLevels> all{{0, 1, 2}, {2, 2, 2}, {1, 0, 0}};
  for (const ClockLevels& clocks : all) {
    const Placement placement = place_stages(small.problem, {0, 0});
    for (std::size_t g = 0; g < 2; ++g)
      for (std::size_t t = 0; t < 2; ++t)
        small.deployment.assignments[g].tasks[t].processor =
            small.board.processors[placement[g][t]].name;
    SceneSystem scene(small.problem, small.problem.scenes[1], {0, 0}, placement);
    deployment::Operation operation{system::ScenarioId(1), 1};
    for (std::size_t d = 0; d < clocks.size(); ++d)
      operation.clocks[small.board.devices[d].name] = small.board.devices[d].clocks[clocks[d]];
    const realtime::TaskSystem tasks = task_system(small.deployment, small.board, operation);
    EXPECT_EQ(tasks.flows.size(), 4u);
    EXPECT_EQ(scene.at(clocks), tasks);
  }
}

TEST(Settings, bounds_are_within_deadlines_and_lower_rates_draw_less) {
  SmallDeployment small;
  ASSERT_TRUE(small.decided.feasible);
  const auto settings = settings_of(small.problem, small.deployment, small.decided);
  ASSERT_EQ(settings.size(), 4u);
  for (const deployment::Setting& setting : settings)
    for (std::size_t g = 0; g < 2; ++g) {
      const bool is_active = setting.scenario == system::ScenarioId(1) || g == 0;
      ASSERT_EQ(setting.bounds[g].has_value(), is_active);
      if (!is_active) continue;
      const Time deadline = deadline_of(small.system, system::GroupId(g), setting.level);
      EXPECT_LE(*setting.bounds[g], deadline);
    }
  EXPECT_LT(settings[0].power_mw, settings[1].power_mw);
  EXPECT_LT(settings[2].power_mw, settings[3].power_mw);
}

TEST(Settings, priorities_that_are_not_given_follow_deadlines_below_those_that_are) {
  system::System system = test::system_of(3, {{0, 1, 2}});
  system.groups[1].deadline = 5ms;
  EXPECT_EQ(priorities_of(system), (std::vector<std::int64_t>{2, 3, 1}));
  system.groups[2].priority = -4;
  EXPECT_EQ(priorities_of(system), (std::vector<std::int64_t>{-6, -5, -4}));
}

TEST(Settings, a_deadline_that_no_plan_meets_is_named_with_what_lacks) {
  SmallDeployment small;
  EXPECT_EQ(too_short_deadline(small.problem), "");
  small.system.groups[0].deadline = 6ms;
  const std::string text = too_short_deadline(small.problem);
  EXPECT_NE(text.find("'g0'"), std::string::npos) << text;
  EXPECT_NE(text.find("1.00 ms longer than its deadline of 6.00 ms"), std::string::npos) << text;
}

TEST(Settings, what_is_infeasible_names_scenario_group_and_resource) {
  SmallDeployment small;
  for (system::Group& group : small.system.groups) group.deadline = 7ms;
  const Combined found = assess(small.problem, {0, 0});
  ASSERT_FALSE(found.feasible);
  const std::string text = why_infeasible(small.problem, found);
  for (const char* word : {"scenario 's1'", "'g0'", "'gpu'", "longer than its deadline"})
    EXPECT_NE(text.find(word), std::string::npos) << text;
}

}  // namespace
}  // namespace millrace::explore
