#include <gtest/gtest.h>

#include "base/file.h"
#include "product/deployment/open.h"
#include "product/loaded.h"
#include "support/temporary_folder.h"

namespace millrace::product {
namespace {

const std::string project = MILLRACE_SOURCE_DIR;

TEST(open_system, takes_model_and_precisions_from_the_application) {
  const test::TemporaryFolder folder;
  write_file(folder / "s.yaml", "format: 1\ngroups:\n  - {name: a, application: " + project +
                                    "/examples/applications/digits.yaml, rate_fps: 10}\n");
  const system::System system = open_system(folder / "s.yaml");
  EXPECT_TRUE(
      std::filesystem::equivalent(system.groups[0].model.file, project + "/models/digits.onnx"));
  EXPECT_EQ(system.groups[0].precisions, std::vector{board::Precision::f32});
}

TEST(open_deployment, has_the_plans_and_opens_each_model_once) {
  const test::TemporaryFolder folder;
  Networks networks;
  deployment::Deployment deployment;
  for (const char* name : {"a", "b"}) {
    system::Group group{.name = name, .model = {}, .rates = {10, 10}};
    group.model.file = project + "/models/digits.onnx";
    deployment.system.groups.push_back(group);
    deployment::Assignment& assignment = deployment.assignments.emplace_back();
    const network::Network& network = networks.of(group.model);
    assignment.plan.plan = one_processor_plan(network, {.name = "core0", .cores = {0}}, "onednn");
    assignment.plan.evidence = plan::no_evidence(assignment.plan.plan);
    assignment.plan.origin.model = group.model;
    assignment.tasks = {{.name = "stage0", .processor = "core0", .worst = Time(5)}};
  }
  deployment.system.scenarios = {{"all", {system::GroupId(0), system::GroupId(1)}}};
  write_deployment(folder / "d.json", deployment, networks.by_source());
  Networks again;
  const deployment::Deployment found = open_deployment(folder / "d.json", again);
  EXPECT_EQ(found.assignments[1].plan.plan, deployment.assignments[1].plan.plan);
  EXPECT_EQ(&again.of(found.assignments[0].plan.origin.model),
            &again.of(found.assignments[1].plan.origin.model));
  EXPECT_TRUE(open_deployment_times(folder / "d.json").assignments[0].plan.plan.stages.empty());
}

}  // namespace
}  // namespace millrace::product
