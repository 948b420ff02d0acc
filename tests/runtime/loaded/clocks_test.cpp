#include "runtime/loaded/clocks.h"

#include <gtest/gtest.h>

#include "base/trace.h"
#include "plan/plan_file.h"
#include "runtime/loaded/loaded.h"
#include "runtime/scheduling/clock_watch.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;

ClockRecord throttled() {
  ClockRecord clocks;
  clocks.devices = {{"cpu0", {1800}, {1790}, {1800}}, {"cpu1", {2400}, {1200}, {2400}, true}};
  return clocks;
}

TEST(Clocks, a_cluster_that_throttled_is_told_with_its_mean_clock) {
  const auto texts = low_clocks(throttled(), {{"cpu0", 1800}, {"cpu1", 2400}});
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0],
            "cpu1 ran at a mean of 1.20 of 2.40 GHz, at which the plan was measured; it was too "
            "hot: cool the board");
}

TEST(Clocks, what_the_plan_was_measured_at_counts_before_the_highest_clock) {
  EXPECT_TRUE(low_clocks(throttled(), {{"cpu0", 1800}, {"cpu1", 1200}}).empty());
  const auto texts = low_clocks(throttled(), {});
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_NE(texts[0].find("of 2.40 GHz, its highest clock"), std::string::npos) << texts[0];
}

TEST(Clocks, nothing_is_said_where_neither_is_known) {
  ClockRecord clocks = throttled();
  for (WatchedDevice& device : clocks.devices) device.highest = {};
  EXPECT_TRUE(low_clocks(clocks, {}).empty());
}

TEST(Clocks, of_a_plan_are_the_highest_of_one_sample) {
  EXPECT_EQ(highest_clocks(throttled()),
            (std::map<std::string, double>{{"cpu0", 1800}, {"cpu1", 2400}}));
}

TEST(Clocks, stand_in_a_trace_by_their_time) {
  const auto begin = std::chrono::steady_clock::now();
  ClockRecord clocks = throttled();
  clocks.samples = {{0, begin, {1800}}, {1, begin + 100ms, {1200}}};
  Trace trace;
  add_clocks(clocks, begin, trace);
  EXPECT_EQ(trace.clocks, (std::vector<TraceClock>{{"cpu0", 0ms, 1800}, {"cpu1", 100ms, 1200}}));
}

TEST(Clocks, are_read_of_the_devices_that_the_plan_uses) {
  Loaded loaded;
  loaded.board.devices.resize(3);
  for (int d = 0; d < 3; ++d) {
    board::Device& device = loaded.board.devices[static_cast<std::size_t>(d)];
    device.name = "cpu" + std::to_string(d);
    device.cores = {2 * d, 2 * d + 1};
    for (const int core : device.cores) device.processors.push_back("core" + std::to_string(core));
  }
  loaded.plan.stages.resize(2);
  loaded.plan.stages[0].processors = {{"cores2-3", board::ProcessorKind::cpu, {2, 3}}};
  loaded.plan.stages[1].processors = {{"core4", board::ProcessorKind::cpu, {4}}};
  loaded.plan.stages[1].engine = plan::simulated_engine;
  const auto devices = devices_to_watch(loaded);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].name, "cpu1");
}

}  // namespace
}  // namespace millrace::runtime
