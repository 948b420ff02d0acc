#include "system/budget.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/message_of.h"
#include "system/system_file.h"

namespace millrace::system {
namespace {

using std::chrono::milliseconds;

System budgeted(const std::string& keys, const std::string& more = "") {
  return parse_system("format: 1\ngroups:\n  - {name: a, model: a.onnx, " + keys + "}\n" + more,
                      "s.yaml");
}

std::string budget_refusal(const std::string& keys, const std::string& more = "") {
  return test::message_of([&] { budgeted(keys, more); });
}

TEST(budget, is_read_and_written) {
  const System system = budgeted("period_ms: 20, budget_ms: 8, budget_every_ms: 50.5");
  const Budget expected{.time = milliseconds(8), .every = std::chrono::microseconds(50500)};
  EXPECT_EQ(system.groups[0].budget, expected);
  EXPECT_EQ(budget_every(system, GroupId(0), 0), *expected.every);
  EXPECT_EQ(system_in(to_json(system, ""), "s.json").groups[0].budget, expected);
  EXPECT_EQ(to_text(expected), "a budget of 8.00 ms every 50.5 ms");
  EXPECT_FALSE(budgeted("period_ms: 20").groups[0].budget);
}

TEST(budget, is_of_each_period_or_burst_if_nothing_else_is_said) {
  EXPECT_EQ(budget_every(budgeted("period_ms: 20, budget_ms: 8"), GroupId(0), 0), milliseconds(20));
  const System bursts = budgeted("period_ms: 60, burst: 3, budget_ms: 8");
  EXPECT_EQ(budget_every(bursts, GroupId(0), 0), milliseconds(60));
  EXPECT_EQ(to_text(*bursts.groups[0].budget), "a budget of 8.00 ms of each period");
}

TEST(budget, gives_aperiodic_groups_their_deadline) {
  const System system =
      budgeted("rate_fps: 2, aperiodic: true, budget_ms: 8, budget_every_ms: 50");
  EXPECT_TRUE(system.groups[0].events.aperiodic);
  EXPECT_FALSE(system.groups[0].events.is_periodic());
  EXPECT_EQ(deadline_of(system, GroupId(0), 0), milliseconds(50));
  EXPECT_EQ(to_text(system.groups[0].events), "aperiodic");
  EXPECT_EQ(system_in(to_json(system, ""), "s.json").groups[0].events, system.groups[0].events);
}

TEST(budget, that_cannot_be_is_refused) {
  EXPECT_EQ(budget_refusal("period_ms: 20, budget_every_ms: 50"),
            "s.yaml: line 3: groups[0].budget_every_ms: is found without 'budget_ms'; add it, or "
            "leave this out");
  EXPECT_NE(budget_refusal("period_ms: 20, budget_ms: 0").find("groups[0].budget_ms: found 0"),
            std::string::npos);
  EXPECT_NE(budget_refusal("rate_fps: 2, aperiodic: true")
                .find("group 'a' is aperiodic and has no budget; add 'budget_ms'"),
            std::string::npos);
  EXPECT_NE(budget_refusal("rate_fps: 2, aperiodic: true, sporadic: true, budget_ms: 8")
                .find("group 'a' is aperiodic and has sporadic; leave out one of the two"),
            std::string::npos);
}

TEST(budget, is_of_no_group_with_a_queue) {
  const std::string more =
      "  - {name: b, model: b.onnx, period_ms: 20}\nedges:\n  - {from: a, to: b, read: queue}\n";
  EXPECT_NE(budget_refusal("period_ms: 20, budget_ms: 8", more)
                .find("group 'a' has a budget, so values may pile up in a queue"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::system
