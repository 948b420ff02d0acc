// No candidate is faster than the CPU's cores can do what an application does beside the network.
#include "explore/configuration/processing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "explore/contexts.h"

namespace millrace::explore {
namespace {

using std::chrono::milliseconds;

board::Board board_with_cores(std::vector<int> cores) {
  board::Board board = test::accelerated_board(1);
  board::Device cpu;
  cpu.name = "cpu";
  cpu.cores = cores;
  board.devices.push_back(cpu);
  for (const int core : cores)
    board.processors.push_back({"core" + std::to_string(core), board::ProcessorKind::cpu, {core}});
  return board;
}

TEST(Processing, counts_the_cores_of_all_cpus_and_one_where_none_is_said) {
  EXPECT_EQ(cores_of(board_with_cores({0, 1, 2})), 3);
  EXPECT_EQ(cores_of(test::accelerated_board(2)), 1);
}

TEST(Processing, shares_the_cores_with_the_stages_that_run_on_them) {
  const board::Board board = board_with_cores({0, 1});
  // 100 frames/s; gpu, npu0, core0 and core1 busy: 3 ms of a core for each frame
  const Score score{100, {1, 0.5, 0.2, 0.1}};
  EXPECT_DOUBLE_EQ(most_with({milliseconds(3), milliseconds(4), 2}, board, score), 2 / 0.010);
  EXPECT_TRUE(std::isinf(most_with({{}, {}, 2}, board, score)));
}

TEST(Processing, caps_what_is_faster_and_leaves_the_rest) {
  const board::Board board = board_with_cores({0, 1});
  const Objective both = [](std::span<const Configuration> asked) {
    return std::vector<Score>(asked.size(), {400, {1, 0.5, 0, 0}});
  };
  const std::vector<Configuration> one(1);
  EXPECT_EQ(with_processing(both, board, {milliseconds(4), {}, 2})(one).front(),
            (Score{400, {1, 0.5, 0, 0}}));
  EXPECT_EQ(with_processing(both, board, {milliseconds(6), milliseconds(4), 2})(one).front(),
            (Score{200, {0.5, 0.25, 0, 0}}));
}

/// The baseline of Kim's thesis: 6 ms before, 8 ms in, and 2 ms after the network, whatever the
/// cores could do meanwhile.
TEST(Processing, in_sequence_takes_the_sum_of_all_times) {
  const board::Board board = board_with_cores({0, 1});
  const Objective network = [](std::span<const Configuration> asked) {
    return std::vector<Score>(asked.size(), {125, {1, 0, 0, 0}});
  };
  Processing processing{milliseconds(6), milliseconds(2), 8};
  const std::vector<Configuration> one(1);
  EXPECT_DOUBLE_EQ(with_processing(network, board, processing)(one).front().throughput, 125);
  processing.in_sequence = true;
  EXPECT_DOUBLE_EQ(with_processing(network, board, processing)(one).front().throughput, 62.5);
}

TEST(Processing, is_no_faster_than_its_threads) {
  const Processing processing{milliseconds(6), milliseconds(4), 8};
  Configuration configuration;
  configuration.pre_threads = configuration.post_threads = 1;
  EXPECT_DOUBLE_EQ(most_with(processing, configuration), 1 / 0.006);
  configuration.pre_threads = 3;
  EXPECT_DOUBLE_EQ(most_with(processing, configuration), 1 / 0.004);
  configuration.post_threads = 0;  // as many as there are cores
  EXPECT_DOUBLE_EQ(most_with(processing, configuration), 3 / 0.006);
}

TEST(Processing, is_no_faster_than_what_one_thread_reads) {
  Processing processing{milliseconds(6), milliseconds(4), 8};
  processing.reading = milliseconds(2);
  Configuration configuration;
  configuration.pre_threads = configuration.post_threads = 2;
  EXPECT_DOUBLE_EQ(most_with(processing, configuration), 2 / 0.006);
  configuration.pre_threads = configuration.post_threads = 8;
  EXPECT_DOUBLE_EQ(most_with(processing, configuration), 1 / 0.002);
}

TEST(Processing, of_what_is_capped_alike_the_plan_with_fewest_stages_wins) {
  const test::Field field(30, 2);
  const Objective simulated = simulated_objective(field.context);
  Configuration gpu{{{ProcessorId(0)}}, {}, field.build.capacity};
  const double alone = simulated_score(field.context, gpu).throughput;
  for (const double share : {0.5, 2.0}) {
    const Processing processing{time_from_seconds(1 / (share * alone)), {}, 1};
    CandidateCache cache(field.context, with_processing(simulated, field.board, processing), {});
    const auto best = search_cut_points(cache, {});
    ASSERT_TRUE(best);
    EXPECT_EQ(best->stages == gpu.stages, share < 1) << share;
  }
}

}  // namespace
}  // namespace millrace::explore
