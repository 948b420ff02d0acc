#include "deployment/deployment_file.h"

#include <gtest/gtest.h>

#include <array>

#include "base/file.h"
#include "base/json.h"
#include "support/message_of.h"
#include "support/sample_deployment.h"
#include "support/schema.h"
#include "support/temporary_folder.h"

namespace millrace::deployment {
namespace {

using namespace millrace::test;
using Json = nlohmann::json;

class DeploymentFile : public testing::Test {
 protected:
  DeploymentFile() { write_deployment(path_, deployment_, network_of_); }

  Deployment read_again() const {
    Deployment result = read_deployment(path_, network_of_);
    result.system.file.clear();
    result.system.board_place.clear();
    for (system::Group& group : result.system.groups) group.place.clear();
    for (system::Scenario& scenario : result.system.scenarios) scenario.place.clear();
    for (system::Transition& transition : result.system.transitions) transition.place.clear();
    for (system::Group& group : result.system.groups)
      group.model.file = std::filesystem::path(group.model.file).filename();
    return result;
  }

  /// What reading it says, once the value at the pointer is another.
  std::string message_with(const char* pointer, const Json& value) const {
    Json document = read_json(path_);
    document[Json::json_pointer(pointer)] = value;
    write_json(folder_ / "changed.json", document);
    return millrace::test::message_of(
        [&] { read_deployment(folder_ / "changed.json", network_of_); });
  }
  std::string place() const { return (folder_ / "changed.json").string(); }

  TemporaryFolder folder_;
  network::Network network_ = sample_network();
  NetworkOf network_of_ = [this](const formats::ModelSource&) -> const network::Network& {
    return network_;
  };
  Deployment deployment_ = sample_deployment(network_);
  std::filesystem::path path_ = folder_ / "d.json";
};

TEST_F(DeploymentFile, there_and_back_is_the_same) {
  EXPECT_TRUE(is_deployment_file(path_));
  EXPECT_EQ(read_again(), deployment_);
  EXPECT_EQ(read_deployment_system(path_).groups.size(), 2u);
}

TEST_F(DeploymentFile, has_the_cost_of_a_release_if_there_is_one) {
  const auto key = "release_cost_ms";
  EXPECT_FALSE(read_json(path_)["system"].contains(key));
  deployment_.system.release_cost = Time(21'500);
  write_deployment(path_, deployment_, network_of_);
  EXPECT_EQ(read_json(path_)["system"][key], 0.0215);
  EXPECT_EQ(read_again(), deployment_);
}

TEST_F(DeploymentFile, has_its_times_without_any_model) {
  const Deployment times = read_deployment(path_, nullptr);
  EXPECT_EQ(times.assignments[0].tasks, deployment_.assignments[0].tasks);
  EXPECT_EQ(times.assignments[0].plan.origin, deployment_.assignments[0].plan.origin);
  EXPECT_TRUE(times.assignments[0].plan.plan.stages.empty());
  EXPECT_EQ(times.settings, deployment_.settings);
}

TEST_F(DeploymentFile, is_described_by_its_schemas) {
  const std::filesystem::path schemas = std::filesystem::path(MILLRACE_SOURCE_DIR) / "schemas";
  const Json document = read_json(path_);
  const auto violations = [&](const Json& value, const char* schema) {
    return millrace::test::violations(value, read_json(schemas / schema));
  };
  EXPECT_EQ(violations(document, "deployment.schema.json"), std::vector<std::string>{});
  EXPECT_EQ(violations(document["system"], "system.schema.json"), std::vector<std::string>{});
  EXPECT_EQ(violations(document["assignments"][0]["plan"], "plan.schema.json"),
            std::vector<std::string>{});
}

struct BadInput {
  const char *pointer, *value, *message;
};

/// Found with the network, and without it.
constexpr std::array tasks_of_another_plan{
    BadInput{"/assignments/0/tasks/1/processor", "\"core1\"",
             "group 'a', task 'stage0': found the processor 'core1', its plan has 'stage0' on "
             "core0; deploy the system again"},
    BadInput{"/assignments/0/tasks/2/stage", "0",
             "group 'a', task 'stage1': another task runs phase 0 of 'stage0' too; deploy the "
             "system again"},
    BadInput{"/assignments/0/tasks/2/step", "\"postprocess\"",
             "group 'a', task 'stage1': its system has no postprocess_ms; deploy the system again"},
    BadInput{"/assignments/0/tasks/2/after/0", "\"pre\"",
             "group 'a', task 'stage1': it does not come after 'stage0', for which it waits; "
             "deploy the system again"},
    BadInput{"/assignments/0/tasks/1/after", "[]",
             "group 'a', task 'stage0': it does not come after 'pre', for which it waits; deploy "
             "the system again"},
    BadInput{"/system/groups/0/postprocess_ms", "2",
             "group 'a': its system has postprocess_ms, and no task takes it; deploy the system "
             "again"},
};

constexpr std::array bad_inputs{
    BadInput{"/kind", "\"plan\"", "is no deployment: its field 'kind' does not say so"},
    BadInput{"/format", "2",
             "format: found 2, expected 1; deploy the system again with this version of Millrace"},
    BadInput{"/contention", "\"none\"",
             "contention: found 'none', expected alone, beside the others, modelled"},
    BadInput{"/system/groups/1/name", "\"c\"",
             "system.scenarios[1].groups[1]: 'b' is no group of this file, which has a, c; did you "
             "mean 'a'?"},
    BadInput{"/assignments/1/group", "\"a\"",
             "assignments[1].group: a second assignment of 'a'; remove one"},
    BadInput{"/assignments/1/group", "\"bb\"",
             "assignments[1].group: there is no group 'bb'; did you mean 'b'?"},
    BadInput{"/assignments/0/tasks", "[]", "group 'a': it has no tasks"},
    BadInput{"/assignments/0/tasks/1/average_ms", "11",
             "group 'a', task 'stage0': its times are 8.00 ms at best, 11.0 ms on average and 10.0 "
             "ms at worst, expected them ascending"},
    BadInput{"/assignments/0/tasks/2/worst_ms", "6",
             "group 'a', task 'stage1': its kernels take 5.00 ms together and its worst time is "
             "6.00 ms, expected the same"},
    BadInput{"/assignments/0/tasks/2/name", "\"pre\"",
             "group 'a', task 'pre': another task of the group has this name; give it another"},
    BadInput{"/assignments/0/tasks/1/after/0", "\"stage1\"",
             "assignments[0].tasks[1].after[0]: there is no earlier task 'stage1'"},
    BadInput{
        "/assignments/0/tasks/1/phase", "3",
        "group 'a', task 'stage0': its plan has no phase 3 of stage 0; deploy the system again"},
    BadInput{"/assignments/0/tasks/1/step", "\"phases\"",
             "assignments[0].tasks[1].step: found 'phases', expected preprocess, phase, "
             "postprocess, task"},
    BadInput{"/assignments/0/tasks/1/worst_ms", "-1",
             "assignments[0].tasks[1].worst_ms: found -1, expected 0 to 1000000000"},
    BadInput{"/assignments/0/plan/stages/0/phases/0/layers/0", "\"fist\"",
             "assignments[0].plan.stages[0].phases[0].layers[0]: the network has no layer 'fist'; "
             "did you mean 'first'?"},
    BadInput{"/assignments/0/priority", "2000000000",
             "assignments[0].priority: found 2000000000, expected -1000000000 to 1000000000"},
    BadInput{"/settings/0/scenario", "\"ne\"",
             "settings[0].scenario: there is no scenario 'ne'; did you mean 'one'?"},
    BadInput{"/settings/0/level", "2",
             "setting of scenario 'one', level 2: the system has levels 0 to 1"},
    BadInput{"/settings/0/bounds_ms/b", "3",
             "setting of scenario 'one', level 0: has a bound of group 'b', which is not active in "
             "it"},
    BadInput{"/settings/0/clock_mhz", "{}",
             "settings[0]: unknown field 'clock_mhz'; did you mean 'clocks_mhz'?"},
};

TEST_F(DeploymentFile, says_what_does_not_fit) {
  for (const auto& [pointer, value, message] : bad_inputs)
    EXPECT_EQ(message_with(pointer, Json::parse(value)), place() + ": " + message) << pointer;
}

TEST_F(DeploymentFile, has_the_tasks_of_its_plan_also_where_only_times_are_read) {
  for (const auto& [pointer, value, message] : tasks_of_another_plan) {
    EXPECT_EQ(message_with(pointer, Json::parse(value)), place() + ": " + message) << pointer;
    EXPECT_EQ(millrace::test::message_of([&] { read_deployment(place(), nullptr); }),
              place() + ": " + message);
  }
  Json document = read_json(path_);
  document["assignments"][0]["tasks"].erase(2);
  write_json(folder_ / "changed.json", document);
  EXPECT_EQ(millrace::test::message_of([&] { read_deployment(place(), nullptr); }),
            place() +
                ": group 'a': no task runs phase 0 of 'stage1' of its plan; deploy the "
                "system again");
}

TEST_F(DeploymentFile, says_that_a_setting_is_there_twice) {
  const Json setting = read_json(path_)["settings"][0];
  EXPECT_EQ(message_with("/settings/2", setting),
            place() + ": setting of scenario 'one', level 0: it is there twice; remove one");
}

TEST_F(DeploymentFile, that_is_none_is_refused) {
  for (const char* content : {"", "{", "[]", "7", "{\"format\":1", "null", "{\"kind\":3}"}) {
    write_file(path_, content);
    EXPECT_THROW(read_deployment(path_, network_of_), InputError) << content;
  }
}

TEST(check_of_a_board, names_what_the_board_lacks) {
  const network::Network network = sample_network();
  const Deployment deployment = sample_deployment(network);
  board::Board board = sample_board();
  check(deployment, board);
  EXPECT_EQ(another_board(deployment, board), "");
  board.devices[1].clocks = {board::Megahertz{800}};
  EXPECT_EQ(millrace::test::message_of([&] { check(deployment, board); }),
            "setting of scenario 'one', level 0: the device 'gpu' of the board 'small' has no "
            "clock of 400 MHz");
  EXPECT_NE(another_board(deployment, board), "");
  board.processors[2].name = "gpu1";
  EXPECT_EQ(millrace::test::message_of([&] { check(deployment, board); }),
            "group 'a', task 'stage1': the board 'small' has no processor 'gpu0'");
}

TEST(check_of_a_board, counts_the_subnets_of_all_groups) {
  const network::Network network = sample_network();
  const Deployment deployment = sample_deployment(network);
  board::Board board = sample_board();
  const std::string& gpu = board.devices[1].processors[0];
  std::size_t subnets = 0;
  for (const Assignment& assignment : deployment.assignments)
    for (const Task& task : assignment.tasks)
      if (task.step == Step::phase && task.processor == gpu) ++subnets;
  ASSERT_EQ(subnets, 2u);
  for (std::optional<int> board::Limits::*limit :
       {&board::Limits::subnets, &board::Limits::subnets_together}) {
    board.devices[1].limits.*limit = 2;
    EXPECT_NO_THROW(check(deployment, board));
    board.devices[1].limits.*limit = 1;
    const std::string text = millrace::test::message_of([&] { check(deployment, board); });
    EXPECT_NE(text.find("has 2 subnets of all groups, and the board allows 1; move some"),
              std::string::npos)
        << text;
    board.devices[1].limits = {};
  }
}

TEST(check_of_a_board, has_a_core_for_each_step) {
  const network::Network network = sample_network();
  Deployment deployment = sample_deployment(network);
  Task& pre = deployment.assignments[0].tasks[0];
  ASSERT_EQ(pre.step, Step::preprocess);
  pre.processor = "gpu0";
  EXPECT_EQ(millrace::test::message_of([&] { check(deployment, sample_board()); }),
            "group 'a', task 'pre': runs on 'gpu0', which is no core; pre- and post-processing "
            "need a core of the board");
}

}  // namespace
}  // namespace millrace::deployment
