#include "analysis/schedulability.h"

#include <gtest/gtest.h>

#include "support/releasing_deployment.h"

namespace millrace::analysis {
namespace {

using namespace millrace::test;
using system::ScenarioId, system::GroupId;

DeadlineQuestions at(std::size_t scenario, std::int64_t level) {
  return {.scenario = ScenarioId(scenario), .level = level, .simulation = {1, 50}};
}

DeadlineAnswers answers_of(const Deployment& deployment, const DeadlineQuestions& questions) {
  return check_deadlines(deployment, sample_board(), questions).at(0);
}

TEST(check_deadlines, bounds_a_group_alone_by_its_own_times_at_the_settings_clocks) {
  const Deployment deployment = sample_deployment(sample_network());
  const DeadlineAnswers slow = answers_of(deployment, at(0, 0));
  EXPECT_TRUE(slow.has_setting);
  EXPECT_TRUE(slow.is_schedulable());
  EXPECT_EQ(slow.answers.bounds.flows[0].response, ms(2 * (3 + 10 + 5)));
  EXPECT_EQ(slow.answers.bounds.flows[0].response, deployment.settings[0].bounds[0]);
  EXPECT_EQ(slow.answers.simulated->largest.flows[0], ms(36));
  const DeadlineAnswers highest = answers_of(deployment, at(0, 1));
  EXPECT_FALSE(highest.has_setting);
  EXPECT_EQ(highest.answers.bounds.flows[0].response, ms(3 + 10 + 5));
}

TEST(check_deadlines, has_all_scenarios_and_levels) {
  const auto all = check_deadlines(sample_deployment(sample_network()), sample_board(), {});
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].operation.level, 1);
  EXPECT_EQ(all[3].operation.scenario, ScenarioId(1));
  EXPECT_EQ(all[3].tasks.flows.size(), 2u);
}

TEST(check_deadlines, says_by_how_much_a_group_may_be_too_late) {
  Deployment deployment = sample_deployment(sample_network());
  deployment.system.groups[0].deadline = ms(15);
  EXPECT_EQ(answers_of(deployment, at(0, 1)).reason,
            "scenario 'one', level 1: group 'a' may need 18.0 ms and has 14.0 ms, 4.00 ms too "
            "long");
}

TEST(check_deadlines, names_the_processor_that_has_too_much_to_do) {
  Deployment deployment = sample_deployment(sample_network());
  deployment.system.groups[1].rates = {95, 95};
  EXPECT_EQ(answers_of(deployment, at(1, 1)).reason,
            "scenario 'both', level 1: resource 'core0' has utilisation 1.050, more than 1; its "
            "tasks are 'a.stage0', 'b.stage0'");
}

TEST(check_deadlines, counts_releases_and_names_the_group_that_is_late) {
  Deployment deployment = releasing_deployment(ms(1));
  const DeadlineAnswers answers = answers_of(deployment, at(0, 0));
  EXPECT_TRUE(answers.is_schedulable());
  EXPECT_EQ(answers.answers.bounds.flows[1].response, ms(49));
  EXPECT_LE(answers.answers.simulated->largest.flows[1], ms(49));
  deployment.system.groups[1].deadline = ms(48);
  EXPECT_EQ(answers_of(deployment, at(0, 0)).reason,
            "scenario 'all', level 0: group 'low' may need 49.0 ms and has 48.0 ms, 1.00 ms too "
            "long");
  deployment.system.release_cost = {};
  EXPECT_TRUE(answers_of(deployment, at(0, 0)).is_schedulable());
}

TEST(check_deadlines, says_that_releases_are_too_much_for_a_core) {
  EXPECT_EQ(answers_of(releasing_deployment(ms(9)), at(0, 0)).reason,
            "scenario 'all', level 0: resource 'core0' has utilisation 1.090, more than 1; its "
            "tasks are 'high.stage0', 'low.stage0', 'release of high on core0', 'release of low on "
            "core0'");
}

TEST(largest_rates, are_those_at_which_the_response_just_fits) {
  const Deployment deployment = sample_deployment(sample_network());
  const auto rates = largest_rates(deployment, sample_board(), ScenarioId(0));
  ASSERT_TRUE(rates);
  EXPECT_EQ(rates->millionths, 5'263'157);  // a frame each 19 ms: 18, and the overhead of 1 ms
  EXPECT_EQ(rates->processor, "core0");
  EXPECT_EQ(rates->reason.find("scenario 'one', level 1: group 'a' may need 18.0 ms"), 0u);
}

TEST(largest_rates, are_schedulable_and_the_next_higher_ones_are_not) {
  const Deployment deployment = sample_deployment(sample_network());
  const auto rates = largest_rates(deployment, sample_board());
  ASSERT_TRUE(rates);
  EXPECT_EQ(rates->scenario, ScenarioId(1));
  const auto holds = [&](std::int64_t millionths) {
    Deployment faster = deployment;
    faster.settings.clear();
    for (system::Group& group : faster.system.groups) {
      group.rates.least_fps *= static_cast<double>(millionths) / 1e6;
      group.rates.most_fps *= static_cast<double>(millionths) / 1e6;
    }
    return answers_of(faster, at(1, 1)).is_schedulable();
  };
  EXPECT_TRUE(holds(rates->millionths));
  EXPECT_FALSE(holds(rates->millionths + 1));
}

TEST(largest_rates, are_none_if_a_deadline_is_too_short_at_any_rate) {
  Deployment deployment = sample_deployment(sample_network());
  deployment.system.groups[0].deadline = ms(15);
  EXPECT_FALSE(largest_rates(deployment, sample_board()));
}

TEST(largest_rates, keep_periods_above_deadlines_where_frames_wait_for_each_other) {
  Deployment deployment = sample_deployment(sample_network());
  deployment.system.groups[0].deadline = ms(50);  // of a period of 100 ms
  EXPECT_GT(largest_rates(deployment, sample_board(), ScenarioId(0))->millionths, 2'000'000);
  deployment.assignments[0].tasks[2].phase = 1;
  const auto rates = largest_rates(deployment, sample_board(), ScenarioId(0));
  ASSERT_TRUE(rates);
  EXPECT_EQ(rates->millionths, 2'000'000);
  EXPECT_EQ(rates->processor, "");
  EXPECT_NE(rates->reason.find("deadline of group 'a' is longer than its period"),
            std::string::npos);
}

TEST(largest_rates, end_at_a_thousand_times_the_highest) {
  Deployment deployment = sample_deployment(sample_network());
  deployment.system.overhead = {};
  deployment.system.groups[0].rates = {1e-6, 1e-6};
  for (auto& task : deployment.assignments[0].tasks)
    task.worst = task.average = task.best = Time(9);
  deployment.assignments[0].tasks[2].kernels.clear();
  EXPECT_EQ(largest_rates(deployment, sample_board(), ScenarioId(0))->millionths,
            LargestRates::most);
  deployment.system.groups[0].deadline = Time(26);  // and are asked down to the lowest ones
  EXPECT_FALSE(largest_rates(deployment, sample_board(), ScenarioId(0)));
  deployment.system.scenarios[0].groups.clear();
  EXPECT_EQ(largest_rates(deployment, sample_board(), ScenarioId(0))->millionths,
            LargestRates::most);
}

TEST(check_deadlines, of_a_scenario_without_groups_hold) {
  Deployment deployment = sample_deployment(sample_network());
  deployment.system.scenarios[0].groups.clear();
  const DeadlineAnswers answers = answers_of(deployment, at(0, 1));
  EXPECT_TRUE(answers.is_schedulable());
  EXPECT_TRUE(answers.answers.simulated->largest.flows.empty());
}

}  // namespace
}  // namespace millrace::analysis
