#include "runtime/controller/task_times.h"

#include <gtest/gtest.h>

#include <atomic>

#include "runtime/controller/controlled_system.h"
#include "runtime/decorated_engine.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;
using test::ControlledSystem;

TEST(TaskTimes, the_worst_is_the_larger_of_the_largest_and_six_deviations) {
  const TaskTimes even = times_of({10ns, 10ns, 10ns, 10ns});
  EXPECT_EQ(even.worst, 10ns);
  const TaskTimes spread = times_of({8ns, 12ns, 8ns, 12ns});  // deviation 2
  EXPECT_EQ(spread.best, 8ns);
  EXPECT_EQ(spread.average, 10ns);
  EXPECT_EQ(spread.largest, 12ns);
  EXPECT_EQ(spread.worst, 22ns);
  std::vector<Time> outlier(999, 10ns);
  outlier.push_back(100ns);  // 10.09 + 6 * 2.84
  EXPECT_EQ(times_of(outlier).worst, 100ns);
  EXPECT_EQ(times_of({}).samples, 0);
}

TEST(MeasureTasks, gives_each_phase_and_each_step_its_time) {
  ControlledSystem system({{.layers = 3, .fps = 20, .cores = {0, 1, 1}}, {.layers = 1, .fps = 20}});
  system.add_step(0, deployment::Step::preprocess, 0, 7ms);
  system.add_step(1, deployment::Step::postprocess, 1, 9ms);
  auto groups = system.to_run();
  groups[1].postprocess = [end = std::chrono::steady_clock::time_point{}](auto) mutable {
    end = std::chrono::steady_clock::now() + 2ms;
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  for (const bool beside_others : {false, true}) {
    TaskTimesOptions options;
    options.samples = 12;
    options.beside_others = beside_others;
    const auto times = measure_tasks(system.deployment, system.board, groups, options);
    ASSERT_EQ(times.size(), 2u);
    ASSERT_EQ(times[0].size(), 3u);
    EXPECT_EQ(times[0][0].samples, 0);  // there is no function
    EXPECT_GE(times[0][1].samples, 12);
    EXPECT_GE(times[0][1].best, 1ms);
    EXPECT_LT(times[0][1].best, 2ms);
    EXPECT_GE(times[0][2].best, 2ms);
    EXPECT_GE(times[1][1].best, 2ms);
    EXPECT_GE(times[0][2].worst, times[0][2].largest);
  }
}

TEST(MeasureTasks, beside_others_both_cores_are_at_work) {
  if (board::cores_of_this_thread().size() < 2) GTEST_SKIP() << "this machine has one core";
  ControlledSystem system(
      {{.layers = 1, .fps = 20, .cores = {0}}, {.layers = 1, .fps = 20, .cores = {1}}});
  std::atomic<int> inside{0};
  std::atomic<bool> both{false};
  auto groups = system.to_run();
  for (std::size_t g : {0u, 1u}) {
    system.add_step(g, deployment::Step::preprocess, g, 1ms);
    groups[g].preprocess = [&](auto) {
      if (++inside == 2) both = true;
      const auto end = std::chrono::steady_clock::now() + 2ms;
      while (std::chrono::steady_clock::now() < end) {
      }
      --inside;
    };
  }
  TaskTimesOptions options;
  options.samples = 20;
  options.beside_others = false;
  measure_tasks(system.deployment, system.board, groups, options);
  EXPECT_FALSE(both);
  options.beside_others = true;
  measure_tasks(system.deployment, system.board, groups, options);
  EXPECT_TRUE(both);
}

TEST(MeasureTasks, a_task_that_fails_ends_the_measurement) {
  ControlledSystem system({{.layers = 1, .fps = 20}});
  std::atomic<int> runs{0};
  test::DecoratedEngine failing(system.engine(), {.before_prepare = {},
                                                  .before_run =
                                                      [&](const engine::SubnetRequest&) {
                                                        if (++runs == 9)
                                                          throw EngineError("the device is gone");
                                                      },
                                                  .format = {}});
  EXPECT_THROW(measure_tasks(system.deployment, system.board, system.to_run(&failing)),
               EngineError);
}

TEST(MeasureOverhead, is_that_of_frames_without_work) {
  ControlledSystem system({{.layers = 30, .fps = 20}, {.layers = 30, .fps = 20}});
  TaskTimesOptions options;
  options.samples = 20;
  const auto [frame, release] =
      measure_overhead(system.deployment, system.board, system.to_run(), options);
  EXPECT_GE(frame.samples, 10);
  EXPECT_GT(frame.best, Time{});
  EXPECT_LT(frame.best, 5ms);  // its layers alone would take 30
  EXPECT_GE(release.samples, 10);
  EXPECT_GT(release.best, Time{});
  EXPECT_LT(release.best, frame.worst);
  EXPECT_LE(release.largest, release.worst);
}

TEST(WithTimes, shares_the_overhead_of_a_frame_among_its_tasks) {
  ControlledSystem system({{.layers = 2, .fps = 20, .cores = {0, 1}}});
  const TaskTimes first = times_of({4ms}), second = times_of({6ms});
  const Overhead overhead{.frame = times_of({1ms}), .release = times_of({20us})};
  const deployment::Deployment result =
      with_times(system.deployment, {{first, second}}, overhead, true);
  EXPECT_EQ(result.system.overhead, 1ms);
  EXPECT_EQ(result.system.release_cost, 20us);
  EXPECT_EQ(result.contention, deployment::Contention::beside_others);
  EXPECT_EQ(result.assignments[0].tasks[0].worst, 4500us);
  EXPECT_EQ(result.assignments[0].tasks[0].average, 4ms);
  EXPECT_EQ(result.assignments[0].tasks[1].worst, 6500us);
}

}  // namespace
}  // namespace millrace::runtime
