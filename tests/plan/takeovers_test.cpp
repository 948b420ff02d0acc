#include "plan/takeovers.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "networks.h"
#include "schedule/read_plan.h"
#include "support/message_of.h"
#include "support/schema.h"
#include "support/temporary_folder.h"

namespace millrace::plan {
namespace {

using namespace test;
using Json = nlohmann::json;

PlanFile plan_file_of(const Plan& plan) {
  Origin origin;
  origin.network = plan.network_hash;
  origin.model.file = "net.onnx";
  return {plan, origin, no_evidence(plan)};
}

TEST(Takeovers, stand_in_the_file_of_the_first_plan) {
  const millrace::test::TemporaryFolder folder;
  const network::Network network = network_of(4, {{0, 1}, {0, 2}, {0, 3}, {1, 3}, {2, 3}});
  const PlanFile first = plan_file_of(build(network, board_of(2), mapping_of({0, 1, 1, 0})));
  const PlanFile other = plan_file_of(build(network, board_of(1), mapping_of({0, 0, 0, 0})));
  const std::vector<Takeover> takeovers{{{"second"}, first}, {{"second", "third"}, other}};
  write_plan(folder / "plan.json", {first, network}, takeovers);
  EXPECT_EQ(read_plan(folder / "plan.json", network), first);
  const auto read = schedule::read_takeovers(folder / "plan.json", network);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[1].file, other);
  EXPECT_EQ(takeover_without(read, {"second"}), &read[0]);
  EXPECT_EQ(takeover_without(read, {"third"}), &read[1]);
  EXPECT_EQ(takeover_without(read, {"second", "third"}), &read[1]);
  EXPECT_EQ(takeover_without(read, {"fourth"}), nullptr);
  const Json schema =
      read_json(std::filesystem::path(MILLRACE_SOURCE_DIR) / "schemas/plan.schema.json");
  EXPECT_EQ(millrace::test::violations(read_json(folder / "plan.json"), schema),
            std::vector<std::string>());
}

TEST(Takeovers, are_none_in_a_plain_plan_and_refused_with_their_place) {
  const millrace::test::TemporaryFolder folder;
  const network::Network network = network_of(2, {{0, 1}});
  const PlanFile first = plan_file_of(build(network, board_of(1), mapping_of({0, 0})));
  write_plan(folder / "plan.json", first, network);
  EXPECT_TRUE(schedule::read_takeovers(folder / "plan.json", network).empty());
  Json document = read_json(folder / "plan.json");
  document["takeovers"] = {{{"without", {"second"}}, {"plans", 1}}};
  write_json(folder / "plan.json", document);
  EXPECT_NE(millrace::test::message_of([&] {
              read_takeovers(folder / "plan.json", network);
            }).find("takeovers[0]"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::plan
