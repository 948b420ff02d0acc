// Plans that were written before replicas stood inside of their stage.
#include "plan/format_2.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.h"
#include "network/read.h"
#include "plan/plan_file.h"
#include "plan/steps.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::plan {
namespace {

using Json = nlohmann::json;

std::filesystem::path path_of(const std::string& name) {
  return std::filesystem::path(MILLRACE_SOURCE_DIR) / "tests/plan/format_2" / (name + ".plan.json");
}

class Format2 : public testing::Test {
 protected:
  network::Network network =
      network::read_network(std::filesystem::path(MILLRACE_SOURCE_DIR) / "models/digits.onnx");
  millrace::test::TemporaryFolder folder;

  PlanFile read(const std::string& name) { return read_plan(path_of(name), network); }

  std::string message_after(const std::function<void(Json&)>& change) {
    Json document = read_json(path_of("replicas_of_a_part"));
    change(document);
    write_json(folder / "changed.plan.json", document);
    return millrace::test::message_of([&] { read_plan(folder / "changed.plan.json", network); });
  }
};

TEST_F(Format2, has_a_stage_for_each_replica) {
  const auto [plan, origin, evidence] = read("replicas_of_a_part");
  ASSERT_EQ(plan.stages.size(), 3u);
  const Stage& stage = plan.stages[1];
  EXPECT_EQ(stage.name, "stage1");
  ASSERT_EQ(stage.replicas(), 2);
  EXPECT_NE(stage.processors[0], stage.processors[1]);
  EXPECT_EQ(stage.dispatch, Dispatch::round_robin);
  EXPECT_EQ(plan.channels.size(), 5u);  // of the file's seven, two for each replica
  const Json document = read_json(path_of("replicas_of_a_part"));
  ASSERT_EQ(evidence.replicas.size(), 4u);
  for (std::size_t r = 0; r < 4; ++r)
    EXPECT_DOUBLE_EQ(milliseconds(evidence.replicas[r].predicted),
                     document["stages"][r]["predicted_ms"].get<double>());
  EXPECT_EQ(origin.model.file, "digits.onnx");
}

TEST_F(Format2, of_the_whole_network_is_first_free) {
  const Plan plan = read("first_free_batches").plan;
  ASSERT_EQ(plan.stages.size(), 1u);
  EXPECT_TRUE(is_first_free(plan));
  EXPECT_EQ(plan.stages[0].replicas(), 2);
  EXPECT_EQ(plan.stages[0].phases.at(1).batch, 8);
  EXPECT_EQ(plan.channels.size(), 3u);
}

TEST_F(Format2, is_written_in_the_new_format) {
  for (const char* name : {"batches", "f16", "first_free_batches", "replicas_of_a_part",
                           "replicas_of_all_parts", "skipped_edges"}) {
    SCOPED_TRACE(name);
    const PlanFile file = read(name);
    write_plan(folder / "new.plan.json", file, network);
    EXPECT_EQ(read_json(folder / "new.plan.json")["format"], 3);
    EXPECT_EQ(read_plan(folder / "new.plan.json", network), file);
  }
}

TEST_F(Format2, with_replicas_that_are_unlike_or_missing_is_refused) {
  const auto says = [&](const std::function<void(Json&)>& change, const std::string& what) {
    const std::string message = message_after(change);
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  const auto stage = [](Json& d, std::size_t s) -> Json& { return d["stages"][s]; };
  says([&](Json& d) { stage(d, 2)["turn"]["index"] = 0; },
       "stage1.1: has the turn of another replica, 0");
  says([&](Json& d) { stage(d, 2)["turn"]["of"] = 3; },
       "stage1.1: has 3 replicas and another stage 2");
  says([&](Json& d) { stage(d, 2)["turn"]["index"] = 2; }, "found turn 2 of 2");
  says([&](Json& d) { stage(d, 2)["engine"] = "other"; },
       "stage1.1: has another engine, lag, batch or phase than stage1.0");
  says([&](Json& d) { stage(d, 1)["phases"][0]["lag"] = 4; }, "has another engine, lag, batch");
  says([&](Json& d) { d["stages"].erase(2); }, "stage1.0: its replica with turn 1 is missing");
  says([&](Json& d) { d["stages"].erase(1); }, "no stage with the same layers has turn 0");
  says([&](Json& d) { stage(d, 1)["turn"] = 7; }, "stages[1].turn: found number");
  says([&](Json& d) { stage(d, 1).erase("processor"); }, "stages[1]: the field 'processor'");
  says([&](Json& d) { stage(d, 1)["phases"] = Json::array(); }, "expected at least one phase");
  says([&](Json& d) { stage(d, 2)["dispatch"] = "first free"; }, "[2]: unknown field 'dispatch'");
  says([&](Json& d) { stage(d, 2)["phases"][0].erase("lag"); }, "the field 'lag'");
  says([&](Json& d) { stage(d, 2)["name"] = "stage1.0"; }, "the name of another stage too");
}

TEST_F(Format2, with_channels_that_replicas_do_not_share_is_refused) {
  const auto of_replica = [](const Json& channel) {
    return channel.dump().find("stage1.1") != std::string::npos;
  };
  const auto says = [&](const std::function<void(Json&)>& change, const std::string& what) {
    const std::string message = message_after([&](Json& d) { change(d["channels"]); });
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  const auto first = [&](Json& channels) {
    return std::find_if(channels.begin(), channels.end(), of_replica);
  };
  says([&](Json& channels) { channels.erase(first(channels)); }, "has no such channel; add it");
  says([&](Json& channels) { channels.push_back(*first(channels)); }, "stands twice");
}

}  // namespace
}  // namespace millrace::plan
