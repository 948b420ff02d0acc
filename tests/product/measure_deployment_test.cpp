#include "product/deployment/measure_deployment.h"

#include <gtest/gtest.h>

#include "analysis/schedulability.h"
#include "engine/registry.h"
#include "plan/build.h"

namespace millrace::product {
namespace {

using namespace std::chrono_literals;

/// A group of one task on the first core of this machine: the whole of the digits network.
deployment::Deployment digits_on_one_core(Networks& networks) {
  const board::Board board = board::only(board::this_machine(), {"core0"});
  formats::ModelSource source;
  source.file = std::string(MILLRACE_SOURCE_DIR) + "/models/digits.onnx";
  const network::Network& network = networks.of(source);
  deployment::Assignment assignment;
  plan::Mapping mapping;
  mapping.processors.assign(network.layers.size(), ProcessorId(0));
  assignment.plan.plan =
      plan::build(network, board, mapping, {.engine = engine::engine_names().front()});
  assignment.plan.origin.model = source;
  assignment.plan.evidence = plan::no_evidence(assignment.plan.plan);
  deployment::Task task;
  task.name = assignment.plan.plan.stages[0].name;
  task.processor = "core0";
  task.worst = task.average = 4ms;
  assignment.tasks = {task};
  deployment::Deployment deployment;
  deployment.system.name = deployment.system.file = "digits";
  system::Group group{"digits", source, {}, {}};
  group.rates = {10, 20};
  deployment.system.groups = {group};
  deployment.system.levels = 2;
  deployment.system.scenarios = {{"all", {system::GroupId(0)}}};
  deployment.assignments = {assignment};
  deployment.settings = {{system::ScenarioId(0), 1, {}, 0, {}}};
  return deployment;
}

TEST(MeasureDeployment, fills_in_times_the_overhead_and_bounds) {
  Networks networks;
  const auto loaded = make_ready(digits_on_one_core(networks), {std::move(networks)}, {});
  runtime::TaskTimesOptions options;
  options.samples = 20;
  const MeasuredDeployment measured = measure_deployment(*loaded, loaded->groups_to_run(), options);
  const deployment::Task& task = measured.deployment.assignments[0].tasks[0];
  EXPECT_GE(measured.tasks[0][0].samples, 20);
  EXPECT_GT(measured.tasks[0][0].best, Time{});
  EXPECT_EQ(task.worst, measured.tasks[0][0].worst + measured.overhead.frame.worst);
  EXPECT_EQ(measured.deployment.system.overhead, measured.overhead.frame.worst);
  EXPECT_EQ(measured.deployment.system.release_cost, measured.overhead.release.worst);
  ASSERT_TRUE(measured.deployment.settings[0].bounds[0]);
  EXPECT_EQ(*measured.deployment.settings[0].bounds[0],
            task.worst + measured.overhead.release.worst);  // it is alone
}

TEST(MeasureDeployment, a_step_runs_without_the_one_before_it) {
  Networks networks;
  deployment::Deployment deployment = digits_on_one_core(networks);
  deployment.system.groups[0].application =
      std::string(MILLRACE_SOURCE_DIR) + "/examples/applications/digits.yaml";
  const auto loaded = make_ready(std::move(deployment), {std::move(networks)}, {});
  const runtime::GroupToRun group = loaded->groups_to_run().at(0);
  std::vector<std::vector<std::byte>> outputs;
  for (const TensorId output : group.network->outputs)
    outputs.emplace_back(static_cast<std::size_t>((*group.network)[output].size().count));
  const std::vector<std::span<const std::byte>> views(outputs.begin(), outputs.end());
  for (int i = 0; i < 3; ++i) EXPECT_NO_THROW(group.postprocess(views));
}

TEST(LargestRates, are_that_at_which_a_period_is_the_bound) {
  Networks networks;
  const auto loaded = make_ready(digits_on_one_core(networks), {std::move(networks)}, {});
  // 4 ms every 50 ms at the highest level.
  const auto factor_of = [&](const deployment::Deployment& deployment) {
    const auto rates = analysis::largest_rates(deployment, loaded->board, system::ScenarioId(0));
    return rates ? static_cast<double>(rates->millionths) / 1e6 : 0;
  };
  EXPECT_NEAR(factor_of(loaded->deployment), 12.5, 0.03);
  deployment::Deployment slower = loaded->deployment;
  slower.system.overhead = 1ms;  // of each deadline
  EXPECT_NEAR(factor_of(slower), 10, 0.03);
  slower.system.groups[0].deadline = 3ms;
  EXPECT_EQ(factor_of(slower), 0);
}

TEST(ResponseBounds, have_the_overhead_and_are_none_of_groups_that_rest) {
  Networks networks;
  const auto loaded = make_ready(digits_on_one_core(networks), {std::move(networks)}, {});
  deployment::Deployment deployment = loaded->deployment;
  deployment.system.overhead = 1ms;
  deployment.system.scenarios.push_back({"none", {}});
  const auto bound_in = [&](std::size_t scenario) {
    return analysis::response_bounds(deployment, loaded->board,
                                     {system::ScenarioId(scenario), 1})[0];
  };
  EXPECT_EQ(bound_in(0), std::optional<Time>(5ms));
  EXPECT_FALSE(bound_in(1));
  deployment.assignments[0].tasks[0].worst = 60ms;  // every 50
  EXPECT_FALSE(bound_in(0));
}

}  // namespace
}  // namespace millrace::product
