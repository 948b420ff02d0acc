#include "millrace/deployment.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "face/digits.h"
#include "millrace/error.h"
#include "millrace/millrace.h"
#include "support/temporary_folder.h"

namespace {

using namespace std::chrono_literals;
using millrace::GroupResult;
using millrace::test::digits;
using millrace::test::images;
using millrace::test::recognised;

/// Results by group, as they come, and a way to wait for them.
class Results {
 public:
  std::function<void(GroupResult)> taker() {
    return [this](GroupResult result) {
      const std::lock_guard lock(mutex_);
      by_group_[result.group].push_back(std::move(result));
    };
  }
  std::vector<GroupResult> of(const std::string& group) {
    const std::lock_guard lock(mutex_);
    return by_group_[group];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<GroupResult>> by_group_;
};

class FaceDeployment : public testing::Test {
 protected:
  /// Two groups on this machine, with deadlines that a busy one keeps.
  static millrace::Deployment deployed(const millrace::Model& model) {
    millrace::System system;
    for (const char* name : {"left", "right"}) {
      millrace::Group group;
      group.name = name;
      group.model = model;
      group.rate_fps = 10;
      group.deadline = 90ms;
      system.groups.push_back(group);
    }
    millrace::DeployRequest request;
    request.samples = 0;
    request.options.cache = false;
    return deploy(system, request);
  }
};

/// One layer, which hands on what is not below 0.
std::string relu() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("relu");
  for (onnx::ValueInfoProto* value : {graph.add_input(), graph.add_output()}) {
    value->set_name(value == &graph.input(0) ? "x" : "y");
    auto& type = *value->mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    for (const int size : {1, 4}) type.mutable_shape()->add_dim()->set_dim_value(size);
  }
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("Relu");
  node.add_input("x");
  node.add_output("y");
  return model.SerializeAsString();
}

TEST_F(FaceDeployment, groups_read_each_other_at_their_own_rates) {
  const std::string bytes = relu();
  const auto model = millrace::Model::from_memory({{bytes.data(), bytes.size()}});
  millrace::System system;
  for (const auto& [name, rate] : {std::pair("camera", 10), {"tracker", 20}, {"motor", 40}}) {
    millrace::Group& group = system.groups.emplace_back();
    group.name = name;
    group.model = model;
    group.rate_fps = rate;
  }
  system.groups[0].jitter = 30ms;
  system.edges = {{"camera", "tracker"}, {"tracker", "motor", "y", "x", 4}};
  system.chains = {{"steering", {"camera", "tracker", "motor"}, 2s}};
  millrace::DeployRequest request;
  request.samples = 5;
  request.options.cache = false;
  const auto deployment = deploy(system, request);
  ASSERT_EQ(deployment.chains().size(), 1u);
  EXPECT_GT(deployment.chains()[0].reaction.value(), 205ms);  // of the periods, and the jitter
  EXPECT_GT(deployment.chains()[0].age.value(), 180ms);
  Results results;
  auto run = deployment.start(results.taker());
  const auto last = [&] {
    const auto of = results.of("motor");
    return of.empty() ? 0.f : of.back().outputs[0].values<float>()[3];
  };
  for (const float number : {3.f, 5.f}) {
    run.submit("camera", {millrace::Tensor::of<float>({1, 4}, std::vector<float>(4, number))});
    while (last() != number) std::this_thread::yield();
  }
  const auto chains = run.stop_chains();
  EXPECT_EQ(results.of("motor").back().input, -1);
  ASSERT_EQ(chains.size(), 1u);
  EXPECT_EQ(chains[0].name, "steering");
  EXPECT_GT(chains[0].frames, 0);
  EXPECT_GT(chains[0].largest_age, 0ms);
  EXPECT_TRUE(chains[0].age_bound && chains[0].reaction_bound);
  system.groups[1].sporadic = true;  // which a queue refuses
  EXPECT_THROW(deploy(system, request), millrace::Error);
  system.groups[1].sporadic = false;
  system.edges[0].to = "rear";
  EXPECT_THROW(deploy(system, request), millrace::Error);
}

TEST_F(FaceDeployment, a_budget_limits_a_group) {
  const std::string bytes = millrace::test::bytes_of(digits);
  const auto model = millrace::Model::from_memory({{bytes.data(), bytes.size()}});
  millrace::System system;
  millrace::Group& group = system.groups.emplace_back();
  group.name = "often";
  group.model = model;
  group.rate_fps = 2000;
  group.aperiodic = true;
  millrace::DeployRequest request;
  request.samples = 5;
  request.options.cache = false;
  EXPECT_THROW(deploy(system, request), millrace::Error);  // it has none
  group.budget_every = 100ms;
  EXPECT_THROW(deploy(system, request), millrace::Error);
  group.budget = 1ms;
  group.budget_every = 20ms;
  group.deadline = 100ms;
  const auto deployment = deploy(system, request);
  EXPECT_EQ(deployment.groups()[0].deadline, 100ms);
  std::atomic<int> taken{0};
  auto run = deployment.start([&](const millrace::GroupResult&) { ++taken; });
  const auto end = std::chrono::steady_clock::now() + 300ms;
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
  const auto reports = run.stop();
  EXPECT_GT(reports[0].due, 200);
  EXPECT_GT(reports[0].held, 0);
  EXPECT_GT(reports[0].longest_held, 0ms);
}

TEST_F(FaceDeployment, live_frames_of_each_group_come_back_as_its_results) {
  const std::string bytes = millrace::test::bytes_of(digits);
  const auto model = millrace::Model::from_memory({{bytes.data(), bytes.size()}});
  const auto deployment = deployed(model);
  ASSERT_EQ(deployment.groups().size(), 2u);
  const auto frames = images(20);
  Results results;
  millrace::RunOptions options;
  options.input = millrace::InputPolicy::every;
  auto run = deployment.start(results.taker(), options);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(run.submit("left", frames[i]));
    EXPECT_TRUE(run.submit("right", frames[10 + i]));
  }
  while (results.of("left").empty() || results.of("left").back().input < 9 ||
         results.of("right").empty() || results.of("right").back().input < 9)
    std::this_thread::yield();
  const auto reports = run.stop();
  auto session = [&] {
    millrace::PlanRequest request;
    request.measuring = {};
    request.options.cache = false;
    return plan(model, request).start();
  }();
  for (const std::string group : {"left", "right"}) {
    std::int64_t next = 0;
    for (const GroupResult& result : results.of(group)) {
      const std::size_t first = group == "left" ? 0 : 10;
      const auto input = static_cast<std::size_t>(result.input);
      EXPECT_EQ(recognised(result.outputs), recognised(session.run(frames[first + input])));
      if (!result.repeated) {
        EXPECT_EQ(result.input, next++);
      }
      EXPECT_GT(result.response, 0ns);
      EXPECT_EQ(result.end - result.due, result.response);
      EXPECT_EQ(result.deadline, 90ms);
      EXPECT_TRUE(result.bound);
    }
    EXPECT_EQ(next, 10) << group;
  }
  ASSERT_EQ(reports.size(), 2u);
  for (const millrace::GroupReport& report : reports) {
    EXPECT_EQ(report.due, report.done + report.skipped);
    EXPECT_EQ(report.submitted, 10);
    EXPECT_EQ(report.overwritten, 0);
    EXPECT_EQ(static_cast<std::int64_t>(results.of(report.group).size()),
              report.done - report.without_input - report.undelivered);
  }
  EXPECT_FALSE(run.submit("left", frames[0]));
}

TEST_F(FaceDeployment, a_newer_frame_takes_the_place_of_one_that_waits) {
  const auto deployment = deployed(millrace::Model::from_file(digits));
  Results results;
  auto run = deployment.start(results.taker());
  const auto frames = images(1);
  for (int i = 0; i < 1000; ++i) run.submit("left", frames[0]);
  while (results.of("left").empty() || results.of("left").back().input < 999)
    std::this_thread::yield();
  const auto report = run.stop().at(0);
  EXPECT_GT(report.overwritten, 900);
  EXPECT_EQ(report.submitted, 1000);
  EXPECT_TRUE(results.of("right").empty());
}

TEST_F(FaceDeployment, what_does_not_fit_is_refused) {
  const auto deployment = deployed(millrace::Model::from_file(digits));
  auto run = deployment.start([](const GroupResult&) {});
  EXPECT_THROW(run.submit("middle", images(1)[0]), millrace::Error);
  EXPECT_THROW(run.submit("left", {millrace::Tensor()}), millrace::Error);
  EXPECT_THROW(run.switch_to("nowhere", {}), millrace::Error);
}

TEST_F(FaceDeployment, what_a_callback_throws_comes_out_of_stop) {
  std::atomic<bool> called{false};
  auto run = deployed(millrace::Model::from_file(digits)).start([&](const GroupResult&) {
    called = true;
    throw std::out_of_range("mine");
  });
  run.submit("left", images(1)[0]);
  while (!called) std::this_thread::yield();
  EXPECT_ANY_THROW(run.stop());
}

TEST_F(FaceDeployment, a_rate_that_cannot_be_is_infeasible) {
  millrace::System system;
  millrace::Group group;
  group.name = "fast";
  group.model = millrace::Model::from_file(digits);
  group.rate_fps = 1e6;
  system.groups = {group};
  try {
    deploy(system);
    FAIL() << "nothing was thrown";
  } catch (const millrace::Error& error) {
    EXPECT_EQ(error.kind(), millrace::ErrorKind::infeasible) << error.what();
  }
}

TEST_F(FaceDeployment, an_application_takes_pictures_and_gives_findings) {
  millrace::System system;
  millrace::Group group;
  group.name = "digits";
  group.application = std::string(MILLRACE_SOURCE_DIR) + "/examples/applications/digits.yaml";
  group.rate_fps = 10;
  system.groups = {group};
  millrace::DeployRequest request;
  request.samples = 0;
  request.options.cache = false;
  Results results;
  millrace::RunOptions options;
  options.input = millrace::InputPolicy::every;
  auto run = deploy(system, request).start(results.taker(), options);
  const std::string folder = millrace::test::models + "digits_images/";
  for (const char* name : {"digit_7_frame_010.png", "digit_3_frame_006.png"})
    run.submit("digits", millrace::Image::from_file(folder + name));
  while (results.of("digits").empty() || results.of("digits").back().input < 1)
    std::this_thread::yield();
  run.stop();
  for (const GroupResult& result : results.of("digits"))
    EXPECT_EQ(result.findings.classes.value().at(0).label, result.input == 0 ? 7 : 3);
}

/// What stands behind a name in a line of JSON, up to the next comma.
double number_in(const std::string& line, const std::string& name) {
  const std::size_t at = line.find("\"" + name + "\":");
  return at == std::string::npos ? -1 : std::stod(line.substr(at + name.size() + 3));
}

void check_times(const GroupResult& result, const std::string& line) {
  const auto seconds = [](auto moment) {
    return std::chrono::duration<double>(moment.time_since_epoch()).count();
  };
  EXPECT_NEAR(number_in(line, "arrived_s"), seconds(result.arrived), 1e-5);
  EXPECT_NEAR(number_in(line, "due_s"), seconds(result.due), 1e-5);
  EXPECT_NEAR(number_in(line, "end_s"), seconds(result.end), 1e-5);
  EXPECT_LE(result.arrived, result.end);
  EXPECT_LE(result.due, result.released);
  EXPECT_LE(result.released, result.end);
  ASSERT_TRUE(result.bound);
  const std::chrono::duration<double, std::milli> bound = *result.bound;
  EXPECT_NEAR(number_in(line, "bound_ms"), bound.count(), 1e-3);
}

TEST_F(FaceDeployment, a_group_reads_its_own_input_and_each_result_is_in_its_file_too) {
  const millrace::test::TemporaryFolder folder;
  const std::string application = (folder.path() / "live.yaml").string();
  const std::string pictures = millrace::test::models + "digits_images";
  std::ofstream(application) << "format: 1\nnetwork: {model: " << millrace::test::digits
                             << "}\ninput: {images: " << pictures
                             << ", rate_fps: 20, frames: 12}\npreprocess: {colours: grey}\n"
                             << "postprocess: {kind: top_k, top: 1}\n";
  millrace::System system;
  millrace::Group group;
  group.name = "digits";
  group.application = application;
  group.rate_fps = 20;
  system.groups = {group};
  millrace::DeployRequest request;
  request.samples = 0;
  request.options.cache = false;
  const auto deployment = deploy(system, request);
  Results results;
  millrace::RunOptions options;
  options.own_inputs = {"digits"};
  options.output = (folder.path() / "out").string();
  auto run = deployment.start(results.taker(), options);
  while (results.of("digits").empty() || results.of("digits").back().input < 11)
    std::this_thread::yield();
  const auto reports = run.stop();
  std::vector<GroupResult> once;
  for (const GroupResult& result : results.of("digits"))
    if (!result.repeated) once.push_back(result);
  std::ifstream lines(options.output + "/digits.jsonl");
  ASSERT_EQ(once.size(), 12u);
  for (std::size_t i = 0; i < once.size(); ++i) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(once[i].input, static_cast<std::int64_t>(i));
    EXPECT_EQ(number_in(line, "frame"), static_cast<double>(i));
    check_times(once[i], line);
    // The picture's name has its digit.
    const std::string digit = once[i].source.substr(std::string("digit_").size(), 1);
    EXPECT_EQ(once[i].findings.classes.value().at(0).label, std::stoi(digit)) << once[i].source;
  }
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].submitted, 12);
  EXPECT_EQ(reports[0].overwritten, 0);
  EXPECT_NE(reports[0].kept.find("12 lines"), std::string::npos) << reports[0].kept;
  options.own_inputs = {"none"};
  EXPECT_THROW(deployment.start(results.taker(), options), millrace::Error);
}

}  // namespace
