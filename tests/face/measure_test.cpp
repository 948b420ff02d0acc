#include "millrace/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "face/digits.h"
#include "millrace/error.h"
#include "millrace/millrace.h"

namespace {

using namespace std::chrono_literals;
using millrace::test::digits;

millrace::PlanRequest briefly() {
  millrace::PlanRequest request;
  request.measuring = {};
  request.options.cache = false;
  return request;
}

class FaceMeasure : public testing::Test {
 protected:
  const millrace::Model model_ = millrace::Model::from_file(digits);
  const millrace::Plan plan_ = plan(model_, briefly());
};

TEST_F(FaceMeasure, bench_has_a_row_for_each_way_and_the_plan_last) {
  millrace::BenchRequest request;
  request.duration = 100ms;
  request.warmup = 10ms;
  request.rounds = 3;
  request.beside = {plan_};
  request.options.cache = false;
  const millrace::BenchReport report = bench(plan_, request);
  ASSERT_GE(report.rows.size(), 3u);
  EXPECT_EQ(report.rows.size(), report.speedups.size());
  EXPECT_GT(report.plan().fps, 0);
  EXPECT_LE(report.plan().p50, report.plan().p99);
  EXPECT_DOUBLE_EQ(report.speedups.back(), 1);
  EXPECT_EQ(report.plan().fps_by_round.size(), 3u);
  EXPECT_LT(report.bottleneck, report.stages.size());
}

TEST_F(FaceMeasure, verify_finds_the_plan_right_on_real_frames) {
  millrace::VerifyRequest request;
  request.frames = millrace::test::images(5);
  request.options.cache = false;
  const millrace::Verification found = verify(plan_, request);
  EXPECT_TRUE(found.is_right()) << found.first_difference;
  ASSERT_EQ(found.plans.size(), 3u);
  EXPECT_EQ(found.plans[0].frames, 5);
  EXPECT_NE(found.plans[0].agreement, millrace::Agreement::differs);
}

TEST_F(FaceMeasure, a_tolerance_of_zero_asks_for_every_bit) {
  millrace::VerifyRequest request;
  request.frames = millrace::test::images(5);
  request.tolerance = 0;
  request.random_mappings = 0;
  request.options.cache = false;
  const millrace::Verification found = verify(plan_, request);
  EXPECT_EQ(found.plans.at(0).agreement == millrace::Agreement::bit_equal,
            found.plans[0].error == 0);
  EXPECT_EQ(found.is_right(), found.plans[0].error == 0);
}

/// A closed loop cannot be faster than the plan's graph, nor slower than all phases one by one. On
/// one core: replicas take frames as they are free, which the graph does not.
TEST_F(FaceMeasure, simulation_and_proof_agree) {
  millrace::PlanRequest alone = briefly();
  alone.processors = {"core0"};
  const millrace::Plan plan = millrace::plan(model_, alone);
  const millrace::Simulation simulated = millrace::simulate({{plan}});
  const millrace::Analysis proven = analyze(plan);
  ASSERT_TRUE(proven.period);
  ASSERT_EQ(simulated.plans.size(), 1u);
  EXPECT_LE(simulated.plans[0].fps * static_cast<double>(proven.period->count() - 1), 1e9);
  EXPECT_GE(simulated.plans[0].frames, 1000);
  EXPECT_GE(*proven.latency, *proven.period - 1ns);
  EXPECT_FALSE(proven.critical.empty());
  EXPECT_LE(*proven.least_buffer_bytes, proven.buffer_bytes);
}

TEST_F(FaceMeasure, simulated_frames_come_as_they_are_released) {
  millrace::SimulatedPlan periodic{plan_};
  periodic.arrivals = millrace::Arrivals::periodic;
  periodic.period = 1s;
  periodic.deadline = 1ns;
  const auto simulated = millrace::simulate({periodic});
  EXPECT_NEAR(simulated.plans.at(0).fps, 1, 0.01);
  EXPECT_EQ(simulated.plans[0].missed, simulated.plans[0].frames);
}

TEST_F(FaceMeasure, a_profile_of_a_shipped_board_makes_a_plan_for_it) {
  millrace::ProfileRequest request;
  request.board = "jetson-agx-xavier";
  const millrace::Profile modelled = profile(model_, request);
  EXPECT_TRUE(modelled.is_modelled());
  ASSERT_FALSE(modelled.processors().empty());
  EXPECT_EQ(modelled.processors()[0].layers.size(), model_.layers().size());
}

TEST_F(FaceMeasure, a_measured_profile_is_taken_in_place_of_measuring) {
  millrace::ProfileRequest profiling;
  profiling.duration = 50ms;
  profiling.options.cache = false;
  const millrace::Profile measured = profile(model_, profiling);
  EXPECT_FALSE(measured.is_modelled());
  EXPECT_GT(measured.processors().at(0).whole, 0ns);
  class Titles : public millrace::Listener {
   public:
    void progress(const std::string& task, double, const std::string&) override {
      seen.push_back(task);
    }
    std::vector<std::string> seen;
  };
  const auto titles = std::make_shared<Titles>();
  millrace::PlanRequest request = briefly();
  request.profile = measured;
  request.options.listener = titles;
  EXPECT_FALSE(plan(model_, request).stages().empty());
  for (const std::string& title : titles->seen)
    EXPECT_EQ(title.find("measuring"), std::string::npos) << title;
}

TEST_F(FaceMeasure, calibration_covers_what_the_frames_hold) {
  millrace::CalibrationRequest request;
  request.frames = millrace::test::images(10);
  request.method = millrace::RangeMethod::minmax;
  request.options.cache = false;
  const auto ranges = calibrate(model_, request).ranges();
  const auto input = ranges.find(model_.inputs()[0].name);
  ASSERT_NE(input, ranges.end());
  float largest = 0;
  for (const auto& frame : request.frames)
    for (const float value : frame[0].values<float>()) largest = std::max(largest, value);
  EXPECT_FLOAT_EQ(input->second.high, largest);
  request.frames.clear();
  EXPECT_THROW(calibrate(model_, request), millrace::Error);
}

}  // namespace
