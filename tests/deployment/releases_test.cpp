#include "deployment/releases.h"

#include <gtest/gtest.h>

#include "realtime/analysis.h"
#include "realtime/simulate.h"
#include "realtime/utilisation.h"
#include "support/releasing_deployment.h"

namespace millrace::deployment {
namespace {

using namespace millrace::test;

realtime::TaskSystem tasks_of(const Deployment& deployment, std::size_t scenario = 0,
                              const Clocks& clocks = {}) {
  return task_system(deployment, sample_board(), {system::ScenarioId(scenario), 0, clocks});
}

TEST(releases, of_each_active_group_are_above_all_on_each_core_with_tasks) {
  Deployment deployment = sample_deployment(sample_network());
  deployment.system.release_cost = ms(1);
  const realtime::TaskSystem both = tasks_of(deployment, 1, {{"cpu", {500}}});
  ASSERT_EQ(both.flows.size(), 4u);
  EXPECT_EQ(group_flows(both), 2u);
  EXPECT_EQ(both.flows[2].name, "release of a");
  EXPECT_EQ(both.flows[2].events, both.flows[0].events);
  EXPECT_EQ(both.flows[3].events, both.flows[1].events);
  for (std::size_t f = 2; f < 4; ++f) {
    EXPECT_FALSE(both.flows[f].deadline);
    ASSERT_EQ(both.flows[f].tasks.size(), 2u);  // none on the GPU
    for (std::size_t core = 0; core < 2; ++core) {
      const realtime::Task& task = both[both.flows[f].tasks[core]];
      EXPECT_EQ(task.resource.index, core);
      EXPECT_EQ(task.worst, ms(2));  // at half the clock
      EXPECT_EQ(task.best, Time{});
      EXPECT_EQ(task.priority, 3);
    }
  }
  const realtime::TaskSystem one = tasks_of(deployment, 0);
  ASSERT_EQ(one.flows.size(), 2u);
  EXPECT_EQ(one.flows[1].name, "release of a");
}

TEST(releases, are_on_no_core_without_tasks) {
  const realtime::TaskSystem tasks = tasks_of(releasing_deployment(ms(1)));
  for (const realtime::Task& task : tasks.tasks) EXPECT_EQ(task.resource.index, 0u);
}

TEST(releases, that_cost_nothing_are_no_flows) {
  const realtime::TaskSystem tasks = tasks_of(releasing_deployment({}));
  EXPECT_EQ(tasks.flows.size(), 2u);
  EXPECT_EQ(tasks.tasks.size(), 2u);
  EXPECT_EQ(group_flows(tasks), 2u);
  EXPECT_EQ(realtime::analyse(tasks).flows[1].response, ms(30 + 2 * 5));
}

/// Releases of every group in every period count, also of the lower one itself: at 49 ms three
/// frames of "high" were released, and one of "low". Three times 5 + 1, and 30 + 1.
TEST(releases, of_all_groups_delay_the_tasks_of_all) {
  const realtime::TaskSystem tasks = tasks_of(releasing_deployment(ms(1)));
  const realtime::Bounds bounds = realtime::analyse(tasks);
  EXPECT_EQ(bounds.flows[0].response, ms(5 + 1 + 1));
  EXPECT_EQ(bounds.flows[1].response, ms(3 * (5 + 1) + 30 + 1));
  const auto seen = realtime::simulate(tasks, {.seed = 1, .runs = 50}).largest;
  for (std::size_t f = 0; f < 2; ++f) EXPECT_LE(seen.flows[f], bounds.flows[f].response);
  EXPECT_EQ(seen.flows[1], ms(49));
  const double of_groups = 5. / 20 + 30. / 100, of_releases = 1. / 20 + 1. / 100;
  EXPECT_NEAR(realtime::utilisations(tasks)[0].share, of_groups + of_releases, 1e-9);
}

TEST(releases, have_names_that_no_group_has) {
  Deployment deployment = releasing_deployment(ms(1));
  deployment.system.groups[1].name = "release of high";
  const realtime::TaskSystem tasks = tasks_of(deployment);
  ASSERT_EQ(tasks.flows.size(), 4u);
  EXPECT_EQ(tasks.flows[2].name, "release of high'");
  EXPECT_NO_THROW(realtime::check(tasks));
}

}  // namespace
}  // namespace millrace::deployment
