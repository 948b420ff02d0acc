#include "product/deployment/run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/registry.h"
#include "present/results/deployment_run.h"
#include "product/deployment/open.h"
#include "product/heard.h"
#include "product/loaded.h"
#include "support/onnx_model.h"
#include "support/temporary_folder.h"

namespace millrace::product {
namespace {

using namespace std::chrono_literals;

class RunDeployment : public testing::Test {
 protected:
  /// Alone on a core of this machine, with random inputs.
  DeploymentRun run_for_a_moment(const test::OnnxModel& model) {
    const std::string file = (folder_ / "m.onnx").string();
    std::ofstream(file, std::ios::binary) << model.bytes();
    system::Group group{.name = "noise", .model = {}, .rates = {100, 100}};
    group.model.file = file;
    Networks networks;
    const network::Network& network = networks.of(group.model);
    deployment::Deployment deployment;
    deployment::Assignment& assignment = deployment.assignments.emplace_back();
    assignment.plan.plan = one_processor_plan(network, board::this_machine().processors.front(),
                                              engine::engine_names().front());
    assignment.plan.evidence = plan::no_evidence(assignment.plan.plan);
    assignment.plan.origin.model = group.model;
    assignment.tasks = {
        {.name = "stage0", .processor = assignment.plan.plan.stages[0].processors[0].name}};
    assignment.tasks[0].worst = assignment.tasks[0].average = 1ms;
    deployment.system.name = "s";
    deployment.system.groups = {group};
    deployment.system.scenarios = {{"all", {system::GroupId(0)}}};
    deployment.settings = {{system::ScenarioId(0), 0, {}, 0, {}}};
    write_deployment(folder_ / "d.json", deployment, networks.by_source());
    DeploymentRunRequest request{.deployment = (folder_ / "d.json").string(), .scenario = "all"};
    request.duration_s = 0.2;
    request.context.listener = &heard_;
    return run_deployment(request);
  }

  const test::TemporaryFolder folder_;
  test::Heard heard_;
};

/// Random inputs are from -1 to 1; a maximum hides what is no number.
test::OnnxModel hidden(const std::string& function) {
  test::OnnxModel model;
  model.input("x", {1, 64}).output("y");
  model.node(function, {"x"}, {"l"}).named("first");
  model.node("Relu", {"l"}, {"y"});
  return model;
}

TEST_F(RunDeployment, names_the_layer_that_makes_nan) {
  const DeploymentRun run = run_for_a_moment(hidden("Log"));
  EXPECT_GT(run.record.groups.at(0).frames.done, 3);
  EXPECT_EQ(run.record.groups[0].nan_layer, "first");
  EXPECT_TRUE(heard_.has_note(
      "group 'noise': the layer first makes what is not a number (NaN); do not trust outputs"));
  EXPECT_NE(present::run_json(run).find("\"nan_layer\": \"first\""), std::string::npos);
}

TEST_F(RunDeployment, says_nothing_of_networks_that_make_numbers) {
  EXPECT_EQ(run_for_a_moment(hidden("Exp")).record.groups.at(0).nan_layer, "");
  EXPECT_FALSE(heard_.has_note("NaN"));
}

}  // namespace
}  // namespace millrace::product
