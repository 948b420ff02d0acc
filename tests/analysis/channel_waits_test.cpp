#include "analysis/channel_waits.h"

#include <gtest/gtest.h>

namespace millrace::analysis {
namespace {

using namespace std::chrono_literals;

/// Two stages, the first with two phases; a tensor into the first, one between, one out.
plan::Plan small_plan() {
  constexpr auto outside = plan::Endpoint::outside;
  plan::Plan plan;
  plan.stages.resize(2);
  plan.stages[0].name = "stage0";
  plan.stages[0].phases.resize(2);
  plan.stages[0].processors.resize(1);
  plan.stages[1].name = "stage1";
  plan.stages[1].phases.resize(1);
  plan.stages[1].processors.resize(1);
  plan.channels = {{TensorId(0), {outside, 0}, {0, 0}},
                   {TensorId(1), {0, 1}, {1, 0}},
                   {TensorId(2), {0, 1}, {1, 0}},
                   {TensorId(3), {1, 0}, {outside, 0}}};
  return plan;
}

TEST(ChannelWaits, are_from_the_end_of_the_writer_to_the_begin_of_the_reader) {
  Trace trace;
  trace.plans = {"network"};
  trace.stages = {{0, "stage0", "a"}, {0, "stage1", "b"}};
  trace.firings = {{0, 0, 0, 1, 2ms, 3ms},
                   {0, 1, 0, 1, 3ms, 5ms},
                   {0, 1, 1, 1, 6ms, 7ms},
                   {1, 0, 0, 2, 10ms, 12ms}};
  trace.frames = {{0, 0, 1ms, 1ms, 13ms}, {0, 1, 1ms, 1ms, 14ms}};
  const auto waits = channel_waits(small_plan(), trace);
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_EQ(waits[0].from, "input");
  EXPECT_EQ(waits[0].to, "stage0, phase 0");
  EXPECT_EQ(waits[0].frames, 1);  // of the second frame that phase is not in the trace
  EXPECT_EQ(waits[0].mean, 1ms);
  EXPECT_EQ(waits[1].from, "stage0, phase 1");
  EXPECT_EQ(waits[1].mean, 4ms);
  EXPECT_EQ(waits[1].longest, 5ms);
  EXPECT_EQ(waits[2].to, "output");
  EXPECT_EQ(waits[2].mean, 1500us);
}

TEST(ChannelWaits, are_none_without_a_trace) {
  for (const ChannelWait& wait : channel_waits(small_plan(), {})) EXPECT_EQ(wait.frames, 0);
}

}  // namespace
}  // namespace millrace::analysis
