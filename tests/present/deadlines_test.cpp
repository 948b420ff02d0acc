#include "present/results/deadlines.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "present/count_of.h"
#include "support/releasing_deployment.h"

namespace millrace::present {
namespace {

using namespace millrace::test;

analysis::DeploymentAnswers answers_of(const Deployment& deployment) {
  analysis::DeploymentAnswers answers{"d.json", deployment, sample_board(), {}};
  answers.operations =
      analysis::check_deadlines(deployment, answers.board, {{}, {}, {.seed = 1, .runs = 50}});
  answers.has_rates = true;
  answers.rates = analysis::largest_rates(deployment, answers.board);
  return answers;
}

TEST(deadlines_text, has_the_cost_of_a_release_and_no_row_for_releases) {
  const std::string text = deadlines_text(answers_of(releasing_deployment(ms(1))));
  EXPECT_EQ(count(text, "releases     take 1.00 ms each, on any core"), 1u) << text;
  EXPECT_EQ(count(text, "release of"), 0u) << text;
  EXPECT_EQ(count(text, "ms to spare"), 2u) << text;
  EXPECT_EQ(count(text, "49.0 ms"), 2u) << text;  // of the bound and of the simulation
  EXPECT_EQ(count(text, "core0 61.0 %"), 1u) << text;
  EXPECT_EQ(count(deadlines_text(answers_of(releasing_deployment({}))), "releases"), 0u);
}

TEST(deadlines_json, has_the_groups_only) {
  const auto json = nlohmann::json::parse(deadlines_json(answers_of(releasing_deployment(ms(1)))));
  EXPECT_EQ(json["release_cost_ms"], 1);
  const auto& groups = json["operations"][0]["groups"];
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0]["group"], "high");
  EXPECT_EQ(groups[1]["group"], "low");
  EXPECT_EQ(groups[1]["bound_ms"], 49);
  EXPECT_EQ(json["operations"][0]["processors"].size(), 1u);
}

/// Deadlines are so long that a release has a larger share of its period.
TEST(deadlines_gantt, is_of_a_group) {
  Deployment deployment = releasing_deployment(ms(1));
  deployment.system.groups[0].deadline = std::chrono::seconds(2);
  deployment.system.groups[1].deadline = std::chrono::seconds(2);
  const std::string picture = deadlines_gantt(answers_of(deployment));
  EXPECT_EQ(count(picture, "the longest response of low in the simulation"), 1u);
}

}  // namespace
}  // namespace millrace::present
