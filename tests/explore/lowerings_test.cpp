#include "explore/precision/lowerings.h"

#include <gtest/gtest.h>

#include "problems.h"

namespace millrace::explore {
namespace {

using board::Precision;
using test::bf16;
using test::f32;
using test::int8;

struct Row {
  std::int64_t ns = 0;
  Precision runs_in = f32;
  std::optional<std::size_t> fused_into = {};
};

profile::ProcessorProfile pass(const std::string& processor, Precision precision,
                               const std::vector<Row>& rows) {
  profile::ProcessorProfile result;
  result.processor.name = processor;
  result.precision = precision;
  for (const Row& row : rows) {
    profile::LayerTimes& layer = result.layers.emplace_back();
    layer.together.median = Time(row.ns);
    layer.variant.precision = row.runs_in;
    if (row.fused_into) layer.fused_into = LayerId(*row.fused_into);
  }
  return result;
}

TEST(Lowerings, are_what_saves_time_on_the_mean_of_the_processors) {
  profile::Profile measured;
  measured.processors = {pass("core0", f32, {{100}, {50}, {10}}),
                         pass("core1", f32, {{200}, {50}, {10}}),
                         pass("core0", bf16, {{60, bf16}, {70, bf16}, {8}}),
                         pass("core1", bf16, {{100, bf16}, {70, bf16}, {8}})};
  const Lowerings lowerings = lowerings_of(measured, {f32, bf16});
  // The second layer is slower in bf16, the third is not in bf16 at all.
  EXPECT_EQ(lowerings.problem.lowerings, (std::vector<Lowering>{{LayerId(0), bf16, 70}}));
  EXPECT_EQ(lowerings.problem.base, (std::vector{f32, f32, f32}));
}

TEST(Lowerings, layers_that_some_precision_fuses_are_lowered_together) {
  profile::Profile measured;
  measured.processors = {pass("core0", f32, {{100}, {0, f32, 0}, {30}}),
                         pass("core0", int8, {{20, int8}, {15, f32}, {5, int8}})};
  const Lowerings lowerings = lowerings_of(measured, {int8, f32});
  EXPECT_EQ(lowerings.problem.lowerings,
            (std::vector<Lowering>{{LayerId(0), int8, 65}, {LayerId(2), int8, 25}}));
  EXPECT_EQ(lowerings.spread({int8, f32, f32}), (std::vector{int8, int8, f32}));
}

TEST(Lowerings, the_base_is_the_most_exact_precision_that_is_allowed) {
  profile::Profile measured;
  measured.processors = {pass("core0", f32, {{100}}), pass("core0", bf16, {{40, bf16}}),
                         pass("core0", int8, {{10, int8}}),
                         pass("core0", Precision::f16, {{50, Precision::f16}})};
  const Lowerings lowerings = lowerings_of(measured, {int8, bf16});
  EXPECT_EQ(lowerings.problem.base, (std::vector{bf16}));
  EXPECT_EQ(lowerings.problem.lowerings, (std::vector<Lowering>{{LayerId(0), int8, 30}}));
  for (const Precision lower : {bf16, int8})
    EXPECT_EQ(lowerings_of(measured, {lower, Precision::f16}).problem.base,
              (std::vector{Precision::f16}));
}

}  // namespace
}  // namespace millrace::explore
