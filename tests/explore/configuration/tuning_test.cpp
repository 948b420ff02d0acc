#include "explore/configuration/tuning.h"

#include <gtest/gtest.h>

#include "explore/configuration/processing.h"
#include "explore/contexts.h"
#include "plan/plan.h"

namespace millrace::explore {
namespace {

/// A GPU whose layers take 40 us each, 15 of them launches, that takes up to six streams.
class Streams : public testing::Test {
 protected:
  Streams() {
    field_.board.devices[0].limits.streams = 6;
    for (auto& layer : field_.problem.time) layer[0] = 40'000;
    field_.problem.alone = field_.problem.time;
    field_.problem.borders[0].kernel_ns = 15'000;
    field_.problem.borders[0].border_ns = 0;
  }
  double throughput(const Configuration& configuration) const {
    EXPECT_TRUE(realise(field_.context, configuration).verdict);
    return simulated_score(field_.context, configuration).throughput;
  }
  Configuration on_gpu(std::int64_t streams) const {
    Configuration result{{{ProcessorId(0)}}, {}, 3};
    result.streams = {streams};
    return result;
  }

  test::Field field_{20, 2};
};

TEST_F(Streams, hide_launches_until_the_kernels_fill_the_processor) {
  const double frame = 20 * 40e-6, work = 20 * 25e-6;
  EXPECT_NEAR(throughput(on_gpu(1)), 1 / frame, 1);
  EXPECT_NEAR(throughput(on_gpu(2)), 1 / work, 1);
  EXPECT_NEAR(throughput(on_gpu(6)), 1 / work, 1);
  EXPECT_NEAR(Predictor(field_.context).bottleneck(on_gpu(2)), 1e9 * work, 1);
}

TEST_F(Streams, of_stages_on_one_processor_share_its_time) {
  Configuration there_and_back{{{ProcessorId(0)}, {ProcessorId(1)}, {ProcessorId(0)}}, {7, 11}, 4};
  there_and_back.streams = {1, 2, 3};
  field_.board.devices[1].limits.streams = 2;
  for (auto& layer : field_.problem.time) layer[1] = 50'000;
  const Realised realised = realise(field_.context, there_and_back);
  ASSERT_TRUE(realised.verdict);
  ASSERT_EQ(realised.plan.stages.size(), 3u);
  EXPECT_EQ(realised.plan.stages[2].replicas(), 3);
  EXPECT_EQ(plan::streams_on(realised.plan.stages[2], field_.board.processors[0]), 3);
  const double gpu = 16 * 25e-6, npu = 4 * 50e-6;
  EXPECT_NEAR(throughput(there_and_back), 1 / std::max(gpu, npu), 0.01 / gpu);
}

TEST_F(Streams, beyond_the_limit_are_refused) {
  const Verdict verdict = realise(field_.context, on_gpu(7)).verdict;
  EXPECT_NE(verdict.reason().find("has 7 streams on gpu, which takes 6"), std::string::npos)
      << verdict.reason();
}

TEST_F(Streams, begin_as_in_the_thesis) {
  field_.board.devices[1].limits.streams = 4;
  const ProcessorGroup gpu{ProcessorId(0)}, npus{ProcessorId(1), ProcessorId(2)};
  EXPECT_EQ(first_streams(field_.context, {gpu, npus, gpu}, 6),
            (std::vector<std::int64_t>{3, 2, 3}));
  EXPECT_EQ(first_streams(field_.context, {gpu}, 8), (std::vector<std::int64_t>{6}));
  EXPECT_TRUE(first_streams(field_.context, {gpu}, 1).empty());
}

TEST_F(Streams, are_as_many_as_help) {
  CandidateCache cache = field_.cache();
  TuningLimits limits;
  limits.streams = 6;
  Configuration alone = on_gpu(1);
  alone.streams.clear();
  EXPECT_EQ(maximised(cache, alone, limits).streams, (std::vector<std::int64_t>{2}));
  // Two hide all launches, one costs 37 % of the throughput.
  EXPECT_EQ(fine_tuned(cache, on_gpu(4), limits, 0.01).streams, (std::vector<std::int64_t>{2}));
  EXPECT_TRUE(fine_tuned(cache, on_gpu(4), limits, 0.4).streams.empty());
}

TEST_F(Streams, are_few_where_a_loss_is_allowed_and_so_are_slots) {
  CandidateCache cache = field_.cache();
  const Configuration two{{{ProcessorId(0)}, {ProcessorId(1)}}, {12}, 6};
  const std::int64_t none = fine_tuned(cache, two, {}, 0.01).slots;
  const std::int64_t half = fine_tuned(cache, two, {}, 0.5).slots;
  EXPECT_GT(none, 1);
  EXPECT_EQ(half, 1);
}

TEST_F(Streams, and_threads_are_at_most_as_many_as_slots) {
  const Objective objective = with_processing(
      simulated_objective(field_.context), field_.board,
      {time_from_seconds(2.5 * 20 * 40e-6), time_from_seconds(0.5 * 20 * 40e-6), 8});
  CandidateCache cache(field_.context, objective, {});
  TuningLimits limits;
  limits.pre_threads = limits.post_threads = 8;
  Configuration alone = on_gpu(1);
  alone.streams.clear();
  alone.pre_threads = alone.post_threads = 1;
  const Configuration most = maximised(cache, alone, limits);
  EXPECT_EQ(most.pre_threads, 3);
  EXPECT_EQ(most.post_threads, 1);
  alone.pre_threads = alone.post_threads = 0;  // as many as there are cores
  const Configuration tuned = fine_tuned(cache, alone, limits, 0.01);
  EXPECT_EQ(tuned.pre_threads, 3);
  EXPECT_EQ(tuned.post_threads, 1);
  EXPECT_GE(tuned.slots, 3);
}

TEST_F(Streams, are_tuned_without_more_slots_where_these_cost_throughput) {
  const Objective objective = [](std::span<const Configuration> all) {
    std::vector<Score> scores;
    for (const Configuration& each : all) {
      const double threads = each.pre_threads > 0 ? static_cast<double>(each.pre_threads) : 8;
      scores.push_back({std::min(each.slots > 4 ? 10.0 : 100.0, 25 * threads), {}});
    }
    return scores;
  };
  CandidateCache cache(field_.context, objective, {});
  TuningLimits limits;
  limits.pre_threads = limits.post_threads = 8;
  Configuration found = on_gpu(2);
  const Configuration tuned = fine_tuned(cache, found, limits, 0.01);
  EXPECT_LE(tuned.slots, 4);
  EXPECT_EQ(tuned.pre_threads, 4);
  EXPECT_EQ(cache[tuned].throughput, 100);
}

}  // namespace
}  // namespace millrace::explore
