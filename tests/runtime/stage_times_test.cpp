#include "runtime/stage_times.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "plan/steps.h"
#include "runtime/load.h"
#include "runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;
using test::chain;

class StageTimesTest : public test::SessionTest {
 protected:
  /// A plan of stages that are bound to cores of this machine.
  plan::Plan here(plan::Plan plan) {
    const std::vector<int> cores = board::cores_of_this_thread();
    std::size_t next = 0;
    for (plan::Stage& stage : plan.stages)
      for (board::Processor& processor : stage.processors)
        processor.cores = {cores[next++ % cores.size()]};
    return plan;
  }
  plan::Plan copies(const network::Network& network) {
    plan::BuildOptions options{.engine = "engine"};
    options.replicas[ProcessorId(0)] = {ProcessorId(1)};
    const std::vector<std::size_t> first(network.layers.size(), 0);
    return here(plan::build(network, test::imagined_board(2), test::mapping(first), options));
  }
  /// Counts the runs of each processor's phases, by the number in its name, and then does more.
  void count_runs(std::function<void(std::size_t processor)> more) {
    decorate({.before_prepare = {},
              .before_run =
                  [this, more](const engine::SubnetRequest& request) {
                    const auto processor =
                        static_cast<std::size_t>(request.processor.name.back() - '0');
                    ++runs_[processor];
                    if (together_) more(processor);
                  },
              .format = {}});
  }
  void start_counting() {
    for (auto& runs : runs_) runs = 0;
    together_ = true;
  }

  std::atomic<int> runs_[2] = {0, 0};
  std::atomic<bool> together_{false};
};

TEST_F(StageTimesTest, together_no_stage_is_more_than_a_frame_ahead) {
  count_runs([&](std::size_t processor) { EXPECT_LE(runs_[processor], runs_[1 - processor] + 1); });
  const auto network = chain(2);
  const plan::Plan plan = here(plan_of(network, {0, 1}));
  StageTrials trials(plan, network, engines_);
  start_counting();
  const auto times = trials.run_together(20ms);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_GT(times[0].total(), Time{});
  EXPECT_GT(times[1].total(), Time{});
  EXPECT_NEAR(runs_[0], runs_[1], 1);
}

TEST_F(StageTimesTest, together_a_batch_runs_once_for_its_frames) {
  count_runs([](std::size_t) {});
  const auto network = chain(2);
  const plan::Plan plan = here(plan_of(network, {0, 1}, {1, 4}));
  StageTrials trials(plan, network, engines_);
  start_counting();
  trials.run_together(20ms);
  EXPECT_GT(runs_[1], 0);
  EXPECT_EQ(runs_[0] % 4, 0);
  EXPECT_NEAR(runs_[0] / 4, runs_[1], 1);
}

TEST_F(StageTimesTest, together_every_firing_behind_a_first_round_is_told) {
  count_runs([](std::size_t) {});
  const auto network = chain(2);
  const plan::Plan plan = here(plan_of(network, {0, 1}, {1, 4}));
  StageTrials trials(plan, network, engines_);
  start_counting();
  const auto times = trials.run_together(20ms);
  for (std::size_t s = 0; s < 2; ++s) {
    const std::vector<Time>& firings = times[s].firings[0];
    const auto a_round = s == 0 ? 4 : 1;
    EXPECT_EQ(static_cast<int>(firings.size()), runs_[s] - a_round);
    const Time sum = std::accumulate(firings.begin(), firings.end(), Time{});
    const auto frames = static_cast<std::int64_t>(firings.size()) * (s == 0 ? 1 : 4);
    EXPECT_EQ(times[s].phases[0], sum / frames);
  }
}

TEST_F(StageTimesTest, together_a_copy_does_not_wait_for_a_slower_one) {
  count_runs([&](std::size_t processor) {
    while (processor == 0 && runs_[1] < 3) std::this_thread::yield();
  });
  const auto network = chain(2);
  const plan::Plan plan = copies(network);
  ASSERT_TRUE(plan::is_first_free(plan));
  StageTrials trials(plan, network, engines_);
  start_counting();
  trials.run_together(200ms);
  EXPECT_GE(runs_[1], 3);
}

TEST_F(StageTimesTest, together_all_end_when_one_fails) {
  count_runs([&](std::size_t processor) {
    if (processor == 1) throw std::runtime_error("no power");
  });
  const auto network = chain(2);
  const plan::Plan plan = here(plan_of(network, {0, 1}));
  StageTrials trials(plan, network, engines_);
  start_counting();
  EXPECT_THROW(trials.run_together(10s), std::runtime_error);
}

TEST_F(StageTimesTest, what_was_measured_of_each_plan_is_told) {
  count_runs([](std::size_t processor) {
    const auto end = std::chrono::steady_clock::now() + 200us;
    while (processor == 1 && std::chrono::steady_clock::now() < end) {
    }
  });
  const auto network = chain(2);
  const plan::Plan two = here(plan_of(network, {0, 1})), one = here(plan_of(network, {0, 0}));
  start_counting();
  LoadOptions options;
  options.duration = 50ms;
  const std::vector<Contender> contenders{{two}, {one}};
  const std::vector<plan::Measured> found = measure(contenders, network, engines_, options);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[found[0].period < found[1].period ? 0 : 1].doubt, 0);  // against itself
  for (const plan::Measured& each : found) EXPECT_GE(each.doubt, 0);
  EXPECT_GE(found[0].period, 200us);
  EXPECT_GE(found[0].stages.at(1), 200us);
  EXPECT_GT(found[0].stages[0], Time{});
  EXPECT_LT(found[0].stages[0], found[0].stages[1]);
  EXPECT_GT(found[1].period, Time{});
}

TEST_F(StageTimesTest, a_load_rests_between_its_turns) {
  count_runs([](std::size_t) {});
  const auto network = chain(2);
  const plan::Plan plan = here(plan_of(network, {0, 1}));
  const LoadOptions options;
  IntermittentLoad load(deploy(plan, network, engines_), network, options);
  for (int i = 0; i < 20; ++i) {
    const int before = runs_[1];
    EXPECT_GE(load.run(2ms).frames, options.least);
    const int after = runs_[1];
    EXPECT_GE(after, before + static_cast<int>(options.least));
    for (int k = 0; k < 100; ++k) std::this_thread::yield();
    EXPECT_EQ(runs_[1], after);
  }
}

}  // namespace
}  // namespace millrace::runtime
