#include "product/planning/make_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "base/error.h"
#include "base/file.h"
#include "plan/plan_file.h"
#include "present/results/candidates.h"
#include "product/heard.h"
#include "product/planning/notes.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::product {
namespace {

using test::digits;
using test::Heard;
using test::TemporaryFolder;

PlanRequest request_on(const std::string& board) {
  PlanRequest request;
  request.setup.source.file = digits;
  request.setup.context.cache = false;
  request.board = board;
  request.genetic.epochs = 20;
  request.measure_s = 0;
  return request;
}

class MakePlan : public testing::Test {
 protected:
  /// What `millrace` writes with these words.
  std::string made_by_command(const std::string& words) const {
    const std::string path = (folder_ / "command.plan.json").string();
    const std::string command =
        fmt::format("{} plan {} {} --epochs 20 --no-cache -o {} > {}", MILLRACE_COMMAND, digits,
                    words, path, (folder_ / "output").string());
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return read_file(path);
  }
  std::string written(const PlanResult& result) const {
    const auto path = folder_ / "library.plan.json";
    plan::write_plan(path, result.file, result.network);
    return read_file(path);
  }

  const TemporaryFolder folder_;
};

TEST_F(MakePlan, the_command_writes_the_same_bytes_for_a_board) {
  PlanRequest request = request_on("jetson-tx2");
  EXPECT_EQ(written(make_plan(request)), made_by_command("--board jetson-tx2"));
  request.variants.precisions = {board::Precision::f32, board::Precision::f16};
  request.max_latency = std::chrono::milliseconds(500);
  request.search.fallback = false;
  EXPECT_EQ(written(make_plan(request)),
            made_by_command("--board jetson-tx2 --precision f32,f16 --max-latency 500ms "
                            "--no-fallback"));
}

TEST_F(MakePlan, the_command_writes_the_same_bytes_from_a_profile) {
  const std::string profile = (folder_ / "digits.profile.json").string();
  const std::string command =
      fmt::format("{} profile {} --duration 0.01 --iterations 2 --no-cache -o {} > {}",
                  MILLRACE_COMMAND, digits, profile, (folder_ / "output").string());
  ASSERT_EQ(std::system(command.c_str()), 0);
  PlanRequest request = request_on("");
  request.profile = profile;
  EXPECT_EQ(written(make_plan(request)), made_by_command("--measure 0 --profile " + profile));
}

TEST_F(MakePlan, a_plan_tells_how_it_was_made) {
  PlanRequest request = request_on("jetson-tx2");
  request.setup.source.shapes["image"] = {1, 1, 8, 8};
  request.setup.source.seed = 7;
  request.search.method = "genetic";
  const PlanResult result = make_plan(request);
  EXPECT_EQ(result.file.origin.board_name, result.board.name);
  EXPECT_EQ(result.file.origin.search, "genetic");
  EXPECT_EQ(result.file.origin.model, formats::absolute(request.setup.source));
  written(result);
  EXPECT_EQ(plan::read_plan_origin(folder_ / "library.plan.json"), result.file.origin);
}

TEST_F(MakePlan, a_layer_is_explained) {
  PlanRequest request = request_on("jetson-tx2");
  const std::string layer = make_plan(request).network.layers.front().name;
  request.why = {layer};
  const PlanResult result = make_plan(request);
  ASSERT_EQ(result.why.size(), 1u);
  EXPECT_EQ(result.network[result.why[0].layer].name, layer);
  EXPECT_FALSE(result.why[0].reasons.empty());
}

/// Two ways, of which the first was measured.
TEST(Candidates, a_predicted_rate_among_measured_ones_is_marked) {
  explore::Choice choice;
  choice.lower_bound = 1e6;
  choice.candidates.resize(2);
  for (explore::Candidate& each : choice.candidates) {
    each.search.bottleneck = 2e6;
    each.bound = std::chrono::milliseconds(2);
  }
  EXPECT_EQ(present::candidates_text(choice).find('~'), std::string::npos);
  choice.candidates.front().evidence.period = std::chrono::milliseconds(4);
  const std::string text = present::candidates_text(choice);
  EXPECT_NE(text.find(" 250.0 "), std::string::npos) << text;
  EXPECT_NE(text.find(" ~500.0 "), std::string::npos) << text;
  EXPECT_NE(text.find("~: predicted, the others are measured"), std::string::npos) << text;
}

/// As if the stages ran `ratio` times as long as predicted.
PlanResult run_at(PlanResult result, double ratio) {
  for (plan::ReplicaEvidence& each : result.file.evidence.replicas) {
    each.predicted = std::chrono::milliseconds(20);
    each.measured = Time(static_cast<std::int64_t>(ratio * 20e6));
  }
  return result;
}

TEST(OtherSpeed, it_names_the_command_that_measures_the_same_processors_again) {
  PlanRequest request = request_on("jetson-tx2");
  request.setup.context.cache = true;
  PlanResult result = make_plan(request);
  EXPECT_EQ(other_speed_text(request, run_at(result, 1.2)), "");
  const std::string slower = other_speed_text(request, run_at(result, 3));
  EXPECT_NE(slower.find(" takes 60.0 ms now, but 20.0 ms in the profile: "), std::string::npos)
      << slower;
  EXPECT_NE(slower.find(" is slower now, or was faster then; stop other programs"),
            std::string::npos)
      << slower;
  EXPECT_NE(slower.find(fmt::format("millrace profile {} ⟨fresh⟩", digits)), std::string::npos)
      << slower;
  EXPECT_NE(
      other_speed_text(request, run_at(result, 0.5)).find(" is faster now, or was slower then"),
      std::string::npos);
  request.setup.source.shapes["image"] = {1, 1, 8, 8};
  request.setup.source.seed = 7;
  request.setup.engine = "reference";
  request.variants.precisions = {board::Precision::f32, board::Precision::int8};
  result.board.processors = {{"cores0-1", board::ProcessorKind::cpu, {0, 1}},
                             {"cores2,4", board::ProcessorKind::cpu, {2, 4}}};
  const std::string text = other_speed_text(request, run_at(result, 3));
  EXPECT_NE(text.find(fmt::format("'millrace profile {} ⟨shape⟩ image=1x1x8x8 ⟨seed⟩ 7 "
                                  "⟨processors⟩ cores0-1,core2+core4 ⟨engine⟩ reference "
                                  "⟨precision⟩ f32 ⟨fresh⟩' and plan again",
                                  digits)),
            std::string::npos)
      << text;
  request.setup.context.cache = false;
  EXPECT_EQ(other_speed_text(request, run_at(result, 3)).find("millrace profile"),
            std::string::npos);
}

TEST_F(MakePlan, there_is_no_plan_within_no_time) {
  Heard heard;
  PlanRequest request = request_on("jetson-tx2");
  request.setup.context.listener = &heard;
  request.max_latency = Time(1000);
  const PlanResult result = make_plan(request);
  EXPECT_NE(result.refusal.find("no plan has a predicted latency within ⟨max_latency⟩ 1us"),
            std::string::npos)
      << result.refusal;
  EXPECT_TRUE(heard.has_note(result.refusal));
  EXPECT_FALSE(result.choice().in_time);
}

struct Mistake {
  const char* name;
  void (*make)(PlanRequest& request);
  const char* expected;
};

const Mistake mistakes[] = {
    {"model", [](PlanRequest& r) { r.setup.source.file = "nothing"; },
     "nothing: is neither a file nor the name of a zoo network"},
    {"layer", [](PlanRequest& r) { r.why = {"nothing"}; }, "⟨why⟩ nothing: is no layer of digits"},
    {"weights", [](PlanRequest& r) { r.setup.source.weights = "w"; },
     "⟨weights⟩: is for Darknet's configurations"},
    {"board", [](PlanRequest& r) { r.board = "jetson-tx9"; }, "jetson-tx9"},
    {"processors", [](PlanRequest& r) { r.setup.processors = {"core8000"}; }, "core8000"},
    {"loss", [](PlanRequest& r) { r.board = "", r.loss.max_loss = "1%"; },
     "⟨max_loss⟩ 1%: the loss is measured on frames"},
    {"share", [](PlanRequest& r) { r.board = "", r.loss.max_loss = "much"; },
     "⟨max_loss⟩: found 'much', expected a share"},
    {"int8", [](PlanRequest& r) { r.board = "", r.variants.precisions = {board::Precision::int8}; },
     "⟨precision⟩ int8: needs the ranges of all tensors"},
    {"search", [](PlanRequest& r) { r.search.jobs = 2; }, "⟨jobs⟩: ⟨search⟩ auto does not use it"},
};

TEST_F(MakePlan, wrong_requests_are_refused_with_their_place) {
  for (const Mistake& mistake : mistakes) {
    PlanRequest request = request_on("jetson-tx2");
    mistake.make(request);
    const std::string message = test::message_of([&] { make_plan(request); });
    EXPECT_NE(message.find(mistake.expected), std::string::npos) << mistake.name << ": " << message;
  }
}

TEST_F(MakePlan, its_place_is_a_plan_file_and_no_file_that_is_read) {
  const PlanRequest request = request_on("jetson-tx2");
  const auto message = [&](const std::string& output) {
    return test::message_of([&] { check_plan_output(request, output); });
  };
  EXPECT_NE(message("a.txt").find("expected a name that ends in .json"), std::string::npos);
  PlanRequest with_profile = request;
  with_profile.profile = (folder_ / "p.json").string();
  write_file(with_profile.profile, "{}");
  EXPECT_NE(test::message_of([&] {
              check_plan_output(with_profile, with_profile.profile);
            }).find("is the profile too"),
            std::string::npos);
  EXPECT_NO_THROW(check_plan_output(request, (folder_ / "a.plan.json").string()));
}

}  // namespace
}  // namespace millrace::product
