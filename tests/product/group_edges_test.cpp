#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <span>
#include <vector>

#include "base/error.h"
#include "deployment/deployment_file.h"
#include "product/deployment/deploy.h"
#include "product/deployment/run.h"
#include "support/onnx_model.h"
#include "support/temporary_folder.h"
#include "system/system_file.h"

namespace millrace::product {
namespace {

using namespace std::chrono_literals;

/// A sensor, a filter and a motor of one network each, which hands on what it reads if that is not
/// below 0.
class GroupEdges : public testing::Test {
 protected:
  GroupEdges() {
    test::OnnxModel model;
    model.input("x", {1, 16}).output("y");
    model.node("Relu", {"x"}, {"y"});
    std::ofstream(folder_ / "relu.onnx", std::ios::binary) << model.bytes();
  }

  std::string system(const std::string& edges) const {
    std::ofstream(folder_ / "s.yaml") << "format: 1\ngroups:\n"
                                         "  - {name: sensor, model: relu.onnx, rate_fps: 10}\n"
                                         "  - {name: filter, model: relu.onnx, rate_fps: 25}\n"
                                         "  - {name: motor, model: relu.onnx, rate_fps: 50}\n"
                                      << edges;
    return (folder_ / "s.yaml").string();
  }
  std::string deployed(const std::string& edges) const {
    DeployRequest request;
    request.system = system(edges);
    request.samples = 5;
    const DeployResult result = deploy_system(request);
    EXPECT_TRUE(result.deployment) << result.refusal;
    write(*result.deployment);
    return (folder_ / "d.json").string();
  }
  void write(const deployment::Deployment& deployment) const {
    Networks networks;
    for (const system::Group& group : deployment.system.groups) networks.of(group.model);
    write_deployment(folder_ / "d.json", deployment, networks.by_source());
  }

  const test::TemporaryFolder folder_;
};

float number_of(const network::Array& array) { return array.values<float>()[7]; }

TEST_F(GroupEdges, values_come_from_group_to_group_with_their_ages) {
  DeploymentRunRequest request{
      .deployment = deployed(
          "edges:\n  - {from: sensor, to: filter}\n  - {from: filter, to: motor, read: queue}\n"
          "chains:\n  - {name: all, groups: [sensor, filter, motor]}\n")};
  std::mutex mutex;
  std::condition_variable more;
  std::vector<float> sensed, moved;
  LiveRun* running = nullptr;
  const auto give = [&](std::size_t group, float number) {
    const std::vector<float> values(16, number);
    application::Given given;
    given.arrays = {
        network::make_array(network::DataType::float32, {1, 16}, std::span<const float>(values))};
    running->deliveries()[group]->feed()->put(std::move(given));
  };
  LiveRun run(request, [&](const LoadedDeployment&, std::size_t group) {
    DeliveriesRequest::Ends ends{application::FeedPolicy::newest, {}};
    ends.take = [&, group](application::Taken taken) {
      const std::lock_guard lock(mutex);
      const float number = number_of(taken.result.outputs.front());
      (group == 0 ? sensed : moved).push_back(number);
      if (group == 0) give(0, number + 1);
      more.notify_all();
    };
    return group == 1 ? std::optional<DeliveriesRequest::Ends>() : ends;
  });
  running = &run;
  give(0, 1);
  give(2, 1000);
  run.start();
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(more.wait_for(lock, 30s, [&] { return moved.size() > 200; }));
  }
  const DeploymentRun done = run.stop();
  // What the program gives to the motor is not used once the filter has written.
  const auto first = std::ranges::find_if(moved, [](float each) { return each < 1000; });
  ASSERT_NE(first, moved.end());
  EXPECT_TRUE(std::is_sorted(first, moved.end()));
  for (auto each = first; each != moved.end(); ++each)
    EXPECT_TRUE(*each == 0 || std::ranges::count(sensed, *each) > 0) << *each;
  ASSERT_EQ(done.chains.size(), 1u);
  const ChainSeen& chain = done.chains.front();
  EXPECT_GT(chain.times.ages.count(), 50);
  ASSERT_TRUE(chain.bounds.age && chain.bounds.reaction);
  EXPECT_GT(*chain.bounds.age, 140ms);       // two periods and the responses
  EXPECT_GT(*chain.bounds.reaction, 160ms);  // three
  EXPECT_GT(chain.times.ages.largest(), 60ms);
}

TEST_F(GroupEdges, a_deployment_keeps_them) {
  const std::string file = deployed(
      "edges:\n  - {from: sensor, to: filter, input: x}\n  - {from: filter, to: motor, read: "
      "queue, "
      "capacity: 3}\nchains:\n  - {name: all, groups: [sensor, filter, motor], reaction_ms: "
      "900}\n");
  const system::System asked = system::read_system(folder_ / "s.yaml");
  Networks networks;
  const system::System kept = open_deployment(file, networks).system;
  ASSERT_EQ(kept.edges.size(), 2u);
  EXPECT_EQ(kept.edges[0].input, "x");
  EXPECT_EQ(kept.edges[1].read, system::EdgeRead::queue);
  EXPECT_EQ(kept.edges[1].capacity, 3);
  ASSERT_EQ(kept.chains.size(), 1u);
  EXPECT_EQ(kept.chains[0].groups, asked.chains[0].groups);
  EXPECT_EQ(kept.chains[0].reaction, 900ms);
}

TEST_F(GroupEdges, what_does_not_fit_is_refused_before_the_work) {
  test::OnnxModel other;
  other.input("x", {1, 8}).output("y");
  other.node("Relu", {"x"}, {"y"});
  std::ofstream(folder_ / "relu.onnx", std::ios::binary) << other.bytes();
  DeployRequest request;
  request.system = system("edges:\n  - {from: sensor, to: filter, output: z}\n");
  try {
    deploy_system(request);
    FAIL() << "there is no output 'z'";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("has no output 'z'; it has y"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace millrace::product
