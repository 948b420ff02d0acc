#include <gtest/gtest.h>

#include <cmath>

#include "system/system_file.h"

namespace millrace::system {
namespace {

System with(const std::string& rest) {
  return parse_system(
      "format: 1\ngroups:\n  - {name: a, model: m.onnx, rate_fps: [10, 30]}\n" + rest, "s.yaml");
}

TEST(shares, without_any_statement_all_scenarios_take_the_same) {
  EXPECT_EQ(shares(with("scenarios: [{name: x, groups: [a]}, {name: y, groups: []}]\n")),
            (std::vector<double>{0.5, 0.5}));
}

TEST(shares, are_the_ones_that_are_given) {
  EXPECT_EQ(shares(with("scenarios: [{name: x, groups: [a], share: 0.9},"
                        " {name: y, groups: [], share: 0.1}]\n")),
            (std::vector<double>{0.9, 0.1}));
}

TEST(shares, follow_from_the_probabilities_of_transitions) {
  const std::vector<double> found = shares(with(R"(
scenarios: [{name: x, groups: [a]}, {name: y, groups: []}]
transitions:
  - {from: x, to: y, probability: 0.25}
  - {from: x, to: x}
  - {from: y, to: x, probability: 0.5}
  - {from: y, to: y}
)"));
  EXPECT_NEAR(found[0], 2.0 / 3, 1e-9);  // what leaves x, 0.25 of it, is what leaves y, half of it
  EXPECT_NEAR(found[1], 1.0 / 3, 1e-9);
}

TEST(shares, count_rare_transitions_in_full) {
  const std::vector<double> found = shares(with(R"(
scenarios: [{name: x, groups: [a]}, {name: y, groups: []}]
transitions:
  - {from: x, to: y, probability: 0.000001}
  - {from: x, to: x}
  - {from: y, to: x, probability: 0.000002}
  - {from: y, to: y}
)"));
  EXPECT_NEAR(found[0], 2.0 / 3, 1e-6);
}

TEST(shares, belong_to_what_cannot_be_left) {
  EXPECT_EQ(shares(with("scenarios: [{name: x, groups: [a]}, {name: y, groups: []}]\n"
                        "transitions: [{from: x, to: y, probability: 1}]\n")),
            (std::vector<double>{0, 1}));
}

TEST(period_of, goes_from_the_lowest_rate_to_the_highest) {
  const System system = with("levels: 3\n");
  const GroupId a(0);
  EXPECT_EQ(period_of(system, a, 0), Time(100'000'000));
  EXPECT_EQ(period_of(system, a, 1), Time(50'000'000));
  EXPECT_EQ(period_of(system, a, 2), Time(33'333'333));
  EXPECT_EQ(deadline_of(system, a, 2), Time(33'333'333));
}

TEST(period_of, is_the_period_that_the_file_says) {
  for (const char* period : {"66", "33.333333", "0.001", "100", "7", "999999999"}) {
    const System system = parse_system(
        std::string("format: 1\ngroups: [{name: a, model: m.onnx, period_ms: ") + period + "}]\n",
        "s.yaml");
    EXPECT_EQ(period_of(system, GroupId(0), 0), Time(std::llround(std::stod(period) * 1e6)));
  }
}

}  // namespace
}  // namespace millrace::system
