#include "runtime/peaks.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "board/unit_loops.h"

namespace millrace::runtime {
namespace {

TEST(Peaks, every_processor_has_them_in_every_precision_of_its_units) {
  const board::Board board = board::this_machine();
  const std::vector<board::Peaks> peaks = measure_peaks(board);
  ASSERT_EQ(peaks.size(), board.processors.size());
  for (const board::Peaks& of_processor : peaks) {
    EXPECT_GT(of_processor.bytes, 0);
    for (const board::UnitLoop& loop : board::unit_loops())
      EXPECT_GT(of_processor.operations.at(loop.precision), 0) << loop.unit;
  }
}

TEST(Peaks, of_several_cores_are_one_sum) {
  board::Board board = board::this_machine();
  board.processors = {board::all_cores(board)};
  EXPECT_EQ(measure_peaks(board).size(), 1u);
}

TEST(Peaks, of_a_gpu_alone_are_none) {
  board::Board board = board::this_machine();
  board.processors = {{"gpu0", board::ProcessorKind::gpu, {}}};
  const std::vector<board::Peaks> peaks = measure_peaks(board);
  ASSERT_EQ(peaks.size(), 1u);
  EXPECT_TRUE(peaks[0].operations.empty());
  EXPECT_EQ(peaks[0].bytes, 0);
}

TEST(Peaks, of_a_core_that_is_not_there_is_an_engine_error_although_others_wait_for_it) {
  board::Board board = board::this_machine();
  board.processors.push_back({"core8000", board::ProcessorKind::cpu, {8000}});
  EXPECT_THROW(measure_peaks(board), EngineError);
}

}  // namespace
}  // namespace millrace::runtime
