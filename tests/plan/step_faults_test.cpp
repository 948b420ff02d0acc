#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "networks.h"
#include "plan/build.h"
#include "plan/steps.h"

namespace millrace::plan {
namespace {

using namespace test;

/// Skips over a stage and goes to and fro, so that no step has nothing to do.
struct Sample {
  network::Network network = network_of(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}});
  board::Board board = board_of(3);
  Mapping mapping = mapping_of({0, 1, 0, 2, 2});
  BuildOptions options = {};
  Material material{network, board, mapping, options, network::topology(network)};

  /// As it is after the step of this name.
  Plan after(const std::string& name) const {
    Plan plan;
    for (const Step& step : build_steps()) {
      plan = step.run(std::move(plan), material);
      if (step.name == name) return plan;
    }
    ADD_FAILURE() << "no step " << name;
    return plan;
  }
};

TEST(build_steps, leave_no_fault_behind) {
  const Sample sample;
  Plan plan;
  for (const Step& step : build_steps()) {
    plan = step.run(std::move(plan), sample.material);
    EXPECT_EQ(step.fault(plan, sample.material), "") << step.name;
  }
  EXPECT_EQ(plan, build(sample.network, sample.board, sample.mapping));
}

TEST(build_steps, are_timed_one_by_one) {
  const Sample sample;
  std::vector<StepTime> times;
  build(sample.network, sample.board, sample.mapping, {.times = &times});
  ASSERT_EQ(times.size(), build_steps().size());
  Time all{};
  for (const StepTime& each : times) all += each.took;
  EXPECT_GT(all, Time{});
  EXPECT_STREQ(times[1].step, "cut into phases");
}

TEST(faults, name_a_layer_that_is_in_no_phase_or_in_two) {
  const Sample sample;
  Plan plan = sample.after("cut into phases");
  auto& layers = plan.stages[1].phases.front().layers;
  ASSERT_EQ(layers, std::vector{LayerId(1)});
  layers.emplace_back(3);
  EXPECT_NE(fault_of_phases(plan, sample.material).find("is in 2 phases"), std::string::npos);
  layers.clear();
  EXPECT_NE(fault_of_phases(plan, sample.material).find("is in 0 phases"), std::string::npos);
}

TEST(faults, name_a_layer_on_another_processor) {
  const Sample sample;
  Plan plan = sample.after("drop empty stages");
  std::swap(plan.stages[0].processors, plan.stages[1].processors);
  EXPECT_NE(fault_of_stages(plan, sample.material).find("another processor"), std::string::npos);
}

TEST(faults, find_a_channel_too_few_a_reader_ahead_and_too_few_slots) {
  const Sample sample;
  Plan plan = sample.after("connect phases");
  plan.channels.pop_back();
  EXPECT_NE(fault_of_channels(plan, sample.material), "");
  plan = sample.after("set offsets");
  plan.stages.front().phases.front().offset += 100;
  EXPECT_NE(fault_of_offsets(plan, sample.material).find("ahead of its writer"),
            std::string::npos);
  plan = sample.after("size channels");
  plan.channels.back().capacity = 0;
  EXPECT_NE(fault_of_capacities(plan, sample.material), "");
}

}  // namespace
}  // namespace millrace::plan
