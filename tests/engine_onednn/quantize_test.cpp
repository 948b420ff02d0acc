#include "engine/onednn/primitives/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace millrace::engine::onednn {
namespace {

/// What is left of a number that is stored in 8 bits and read again, in float64.
double kept(const Quantization& q, double x) {
  const double scale = double{q.encoding.scale};
  const bool is_signed = q.type == Type::s8;
  const double stored = std::clamp(std::nearbyint(x / scale) + q.encoding.zero,
                                   is_signed ? -128. : 0., is_signed ? 127. : 255.);
  return scale * (stored - q.encoding.zero);
}

TEST(quantize, keeps_zero_and_all_of_a_range_within_half_a_step_and_its_ends_within_one) {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const auto low = static_cast<float>(-std::exp(random.uniform(-8, 8)));
    const auto high = static_cast<float>(std::exp(random.uniform(-8, 8)));
    const network::Range range{low, high};
    const Quantization q = whole_quantization(range);
    const double step = double{q.encoding.scale};
    EXPECT_EQ(q.type, Type::u8);
    EXPECT_LE(q.encoding.zero, 255);
    EXPECT_GE(q.encoding.zero, 0);
    EXPECT_EQ(kept(q, 0), 0);
    EXPECT_NEAR(step * 255, double{high} - double{low}, step);
    for (int j = 0; j <= 20; ++j) {
      const double x = double{low} + j / 20. * (double{high} - double{low});
      const bool at_end = x - double{low} < step || double{high} - x < step;
      EXPECT_LE(std::abs(kept(q, x) - x), (at_end ? 1.001 : 0.501) * step)
          << x << " of " << low << " to " << high;
    }
  }
}

TEST(quantize, has_more_steps_for_a_range_that_lies_mostly_above_zero) {
  const network::Range swish{-0.278f, 12};
  const float whole = whole_quantization(swish).encoding.scale;
  EXPECT_NEAR(symmetric_quantization(swish).encoding.scale / whole, 1.96, 0.01);
}

TEST(quantize, is_the_same_where_nothing_is_negative) {
  const network::Range range{0, 3};
  const Quantization whole = whole_quantization(range), symmetric = symmetric_quantization(range);
  EXPECT_EQ(whole.type, symmetric.type);
  EXPECT_EQ(whole.encoding, symmetric.encoding);
}

TEST(quantize, holds_a_range_that_is_only_zero) {
  EXPECT_GT(whole_quantization({0, 0}).encoding.scale, 0.f);
  EXPECT_GT(symmetric_quantization({0, 0}).encoding.scale, 0.f);
}

/// Post-ops as they are defined, in float64.
double applied(const PostOps& ops, double x, double before) {
  for (const PostOp& op : ops) {
    const double alpha = double{op.alpha};
    if (op.kind == PostOp::Kind::sum)
      x += double{op.scale} * (before - op.zero);
    else if (op.algorithm == dnnl::algorithm::eltwise_relu)
      x = x < 0 ? alpha * x : x;
    else if (op.algorithm == dnnl::algorithm::eltwise_swish)
      x /= 1 + std::exp(-alpha * x);
    else if (op.algorithm == dnnl::algorithm::eltwise_linear)
      x = alpha * x + double{op.beta};
  }
  return x;
}

/// Expects that the stored integer stands for what the post-ops make of x.
void expect_rescaled(const PostOps& ops, const Encoding& result, double x) {
  const Quantization residual{Type::u8, {0.03f, 17}};
  const double before = 90;  // the integer that lies in the place of the result
  PostOps real = ops;
  for (PostOp& op : real) op.scale = residual.encoding.scale, op.zero = residual.encoding.zero;
  const Rescaling rescaling = rescale(ops, result, residual);
  const double stored = applied(rescaling.post_ops, double{rescaling.factor} * x, before);
  EXPECT_NEAR(double{result.scale} * (stored - result.zero), applied(real, x, before), 1e-5)
      << ops.size() << " of " << x;
}

TEST(quantize, rescales_to_integers_that_stand_for_the_same_numbers) {
  const PostOp relu{PostOp::Kind::eltwise, dnnl::algorithm::eltwise_relu, 0.1f, 0, {}};
  const PostOp swish{PostOp::Kind::eltwise, dnnl::algorithm::eltwise_swish, 1, 0, {}};
  const PostOp sum{PostOp::Kind::sum, {}, 0, 0, {}};
  for (const PostOps& ops :
       {PostOps{relu}, PostOps{swish}, PostOps{sum, relu}, PostOps{swish, sum}})
    for (const std::int32_t zero : {0, 40})
      for (const double x : {-3., -0.2, 0., 1.5}) expect_rescaled(ops, {0.05f, zero}, x);
}

}  // namespace
}  // namespace millrace::engine::onednn
