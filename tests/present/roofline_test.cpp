#include "present/results/roofline.h"

#include <gtest/gtest.h>

namespace millrace::present {
namespace {

using board::Precision;
using profile::Rooflines;
using profile::StageRoofline;

/// Two stages on two cores, at half and a quarter of their limit.
Rooflines two_stages() {
  Rooflines r;
  r.processors = {{"core0", board::ProcessorKind::cpu, {0}},
                  {"core1", board::ProcessorKind::cpu, {1}}};
  r.peaks = {{{{Precision::f32, 2e11}}, 16.0 * (1 << 30)},
             {{{Precision::f32, 2e11}, {Precision::int8, 6e12}}, 16.0 * (1 << 30)}};
  using std::chrono::milliseconds;
  r.stages = {
      {"stage0", {400'000'000, Bytes{1 << 20}, milliseconds(2), milliseconds(3)}, milliseconds(6)},
      {"stage1", {200'000'000, Bytes{1 << 20}, milliseconds(1), milliseconds(1)}, milliseconds(4)}};
  r.measured_fps = 125;
  return r;
}

TEST(Rooflines, the_share_is_the_limit_over_what_was_measured) {
  const Rooflines r = two_stages();
  EXPECT_DOUBLE_EQ(share(r.stages[0]), 0.5);
  EXPECT_DOUBLE_EQ(share(r.stages[1]), 0.25);
  EXPECT_DOUBLE_EQ(share(total(r)), 0.4);
}

TEST(Rooflines, at_the_limit_all_processors_share_the_sum_of_the_stages) {
  EXPECT_DOUBLE_EQ(limit_fps(two_stages()), 2 / 0.004);
}

TEST(Rooflines, the_table_has_a_row_per_stage_and_one_for_all) {
  EXPECT_EQ(rooflines_text(two_stages()),
            "operations per second    f32  bf16  int8  memory per second\n"
            "---------------------  -----  ----  ----  -----------------\n"
            "core0                  200 G     -     -           16.0 GiB\n"
            "core1                  200 G     -   6 T           16.0 GiB\n"
            "\n"
            "stage   operations     bytes  arithmetic    limit  in the pipeline  of the limit\n"
            "------  ----------  --------  ----------  -------  ---------------  ------------\n"
            "stage0       400 M  1.00 MiB     2.00 ms  3.00 ms          6.00 ms        50.0 %\n"
            "stage1       200 M  1.00 MiB     1.00 ms  1.00 ms          4.00 ms        25.0 %\n"
            "------  ----------  --------  ----------  -------  ---------------  ------------\n"
            "total        600 M  2.00 MiB     3.00 ms  4.00 ms          10.0 ms        40.0 %\n"
            "at the limit 2 processors would pass 500.0 frames/s; the pipeline reaches 25.0 % of "
            "that\n");
}

TEST(Rooflines, layers_that_only_rename_their_input_have_no_limit) {
  Rooflines r = two_stages();
  for (StageRoofline& stage : r.stages) stage.roofline = {};
  EXPECT_EQ(rooflines_text(r).find("at the limit"), std::string::npos);
}

}  // namespace
}  // namespace millrace::present
