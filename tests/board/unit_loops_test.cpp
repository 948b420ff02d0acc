#include "board/unit_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "board/instruction_sets.h"

namespace millrace::board {
namespace {

bool has(const std::string& unit) {
  const std::vector<UnitLoop> loops = unit_loops();
  return std::any_of(loops.begin(), loops.end(),
                     [&](const UnitLoop& loop) { return loop.unit == unit; });
}

TEST(UnitLoops, run_on_this_machine) {
  for (const UnitLoop& loop : unit_loops()) {
    SCOPED_TRACE(loop.unit);
    EXPECT_GT(loop.operations, 0);
    loop.run(1);
    loop.run(100);
  }
}

TEST(UnitLoops, leave_the_numbers_of_their_caller_alone) {
  std::array<double, 16> values;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5 + static_cast<double>(i);
  double sum = 0;
  for (const UnitLoop& loop : unit_loops()) {
    for (const double value : values) sum += value;
    loop.run(10);
  }
  EXPECT_EQ(sum, 128 * static_cast<double>(unit_loops().size()));
}

TEST(UnitLoops, are_there_for_float32_on_every_machine) {
  const std::vector<UnitLoop> loops = unit_loops();
  EXPECT_TRUE(std::any_of(loops.begin(), loops.end(),
                          [](const UnitLoop& loop) { return loop.precision == Precision::f32; }));
}

TEST(UnitLoops, are_there_for_the_instructions_of_the_processor) {
  const std::vector<std::string> sets = instruction_sets();
  for (const char* set : {"avx512f", "avx512bw", "avx512_bf16", "avx512_vnni"})
    EXPECT_EQ(has(set), std::count(sets.begin(), sets.end(), set) == 1) << set;
}

}  // namespace
}  // namespace millrace::board
