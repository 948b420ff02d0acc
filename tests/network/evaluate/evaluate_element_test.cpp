// Unary, Binary, and reductions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "evaluate_support.h"

namespace millrace::network {
namespace {

using test::array;
using test::evaluate_floats;
using test::evaluate_one;
using test::floats;
using test::int64s;

constexpr auto least = std::numeric_limits<std::int64_t>::min();

std::vector<std::int64_t> integers(BinaryKind kind, const std::vector<std::int64_t>& a,
                                   const std::vector<std::int64_t>& b) {
  const auto n = static_cast<std::int64_t>(a.size());
  return evaluate_one<std::int64_t>(Binary{kind}, {int64s({n}, a), int64s({n}, b)},
                                    {DataType::int64, {n}});
}

TEST(Binary, dividing_integers_by_zero_gives_zero_and_overflow_wraps) {
  EXPECT_EQ(integers(BinaryKind::div, {7, -7, 5, least}, {2, 2, 0, -1}),
            (std::vector<std::int64_t>{3, -3, 0, least}));
  EXPECT_EQ(integers(BinaryKind::add, {std::numeric_limits<std::int64_t>::max()}, {1}),
            (std::vector<std::int64_t>{least}));
  EXPECT_EQ(integers(BinaryKind::mul, {least}, {-1}), (std::vector<std::int64_t>{least}));
}

TEST(Binary, products_of_small_integers_wrap_in_their_own_type) {
  const Array x = array<std::uint16_t>(DataType::uint16, {2}, {65535, 300});
  EXPECT_EQ(evaluate_one<std::uint16_t>(Binary{BinaryKind::mul}, {x, x}, {DataType::uint16, {2}}),
            (std::vector<std::uint16_t>{1, 24464}));
}

TEST(Binary, powers_of_integers_are_exact) {
  EXPECT_EQ(integers(BinaryKind::pow, {3, -2, 2, 0, -1, 2}, {4, 3, 62, 0, -3, -1}),
            (std::vector<std::int64_t>{81, -8, std::int64_t{1} << 62, 1, -1, 0}));
}

TEST(Binary, the_exponent_may_have_another_type) {
  const Array whole = int64s({3}, {2, 3, 0});
  EXPECT_EQ(evaluate_floats(Binary{BinaryKind::pow}, {floats({3}, {1.5f, -2, 4}), whole}, {3}),
            (std::vector<float>{2.25f, -8, 1}));
  const Array base = array<std::int32_t>(DataType::int32, {3}, {4, 9, 10});
  EXPECT_EQ(evaluate_one<std::int32_t>(Binary{BinaryKind::pow},
                                       {base, floats({3}, {0.5f, 1.5f, 30})},
                                       {DataType::int32, {3}}),
            (std::vector<std::int32_t>{2, 27, std::numeric_limits<std::int32_t>::max()}));
}

TEST(Binary, broadcasts_in_every_direction_like_the_index_formula) {
  const Shape a_shape{3, 1, 4, 1}, b_shape{5, 1, 2}, shape{3, 5, 4, 2};
  std::vector<float> a(12), b(10), expected;
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(100 * i);
  for (std::size_t i = 0; i < 120; ++i) {
    const std::size_t n = i / 40, c = i / 8 % 5, h = i / 2 % 4, w = i % 2;
    expected.push_back(a[n * 4 + h] - b[c * 2 + w]);
  }
  EXPECT_EQ(evaluate_floats(Binary{BinaryKind::sub}, {floats(a_shape, a), floats(b_shape, b)},
                            shape),
            expected);
}

TEST(Binary, not_a_number_wins_in_max_and_min) {
  const float nan = std::nanf("");
  for (const BinaryKind kind : {BinaryKind::max, BinaryKind::min}) {
    const auto result =
        evaluate_floats(Binary{kind}, {floats({2}, {nan, 1}), floats({2}, {1, nan})}, {2});
    EXPECT_TRUE(std::isnan(result[0]) && std::isnan(result[1]));
  }
}

TEST(Unary, clip_of_integers_keeps_bounds_beyond_the_type) {
  const Array x = array<std::int8_t>(DataType::int8, {3}, {-100, 0, 100});
  EXPECT_EQ(evaluate_one<std::int8_t>(Unary{UnaryKind::clip, -1e9, 50}, {x}, {DataType::int8, {3}}),
            (std::vector<std::int8_t>{-100, 0, 50}));
}

TEST(Unary, mish_is_the_identity_for_large_values_and_nothing_for_small_ones) {
  const Array x = floats({4}, {-200, 0, 1, 200});
  const std::vector<float> y = evaluate_floats(Unary{UnaryKind::mish}, {x}, {4});
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 0);
  EXPECT_FLOAT_EQ(y[2], 0.86509839f);  // tanh(log(1 + e))
  EXPECT_EQ(y[3], 200);
}

TEST(Unary, softplus_and_sigmoid_do_not_overflow) {
  const Array x = floats({2}, {-200, 200});
  EXPECT_EQ(evaluate_floats(Unary{UnaryKind::softplus}, {x}, {2}), (std::vector<float>{0, 200}));
  EXPECT_EQ(evaluate_floats(Unary{UnaryKind::sigmoid}, {x}, {2}), (std::vector<float>{0, 1}));
}

TEST(Softmax, of_large_values_is_finite_and_sums_to_one_along_its_axes) {
  const Array x = floats({2, 3}, {1000, 1001, 1002, -1000, -1000, -1000});
  const auto y = evaluate_floats(Softmax{1, 2, false}, {x}, {2, 3});
  EXPECT_NEAR(y[0], 0.09003057f, 1e-6f);
  EXPECT_NEAR(y[2], 0.66524096f, 1e-6f);
  EXPECT_NEAR(y[4], 1.0f / 3, 1e-6f);
  const auto all = evaluate_floats(Softmax{0, 2, true}, {floats({2, 2}, {0, 0, 0, 0})}, {2, 2});
  EXPECT_NEAR(all[3], std::log(0.25f), 1e-6f);
}

TEST(Reduce, means_over_the_inner_the_outer_and_both_dimensions) {
  const Array x = floats({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_EQ(evaluate_floats(Reduce{ReduceKind::mean, {2}}, {x}, {2, 3}),
            (std::vector<float>{1.5f, 3.5f, 5.5f, 7.5f, 9.5f, 11.5f}));
  EXPECT_EQ(evaluate_floats(Reduce{ReduceKind::mean, {0}}, {x}, {1, 3, 2}),
            (std::vector<float>{4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(evaluate_floats(Reduce{ReduceKind::mean, {0, 2}}, {x}, {3}),
            (std::vector<float>{4.5f, 6.5f, 8.5f}));
  EXPECT_EQ(evaluate_one<std::int64_t>(Reduce{ReduceKind::mean, {0}}, {int64s({3}, {-4, -3, 0})},
                                       {DataType::int64, {}}),
            (std::vector<std::int64_t>{-2}));
}

TEST(Reduce, extremes_over_the_inner_the_outer_and_both_dimensions) {
  const Array x = floats({2, 3, 2}, {1, -2, 3, 4, 5, 6, 7, 8, -9, 10, 11, 12});
  EXPECT_EQ(evaluate_floats(Reduce{ReduceKind::min, {2}}, {x}, {2, 3}),
            (std::vector<float>{-2, 3, 5, 7, -9, 11}));
  EXPECT_EQ(evaluate_floats(Reduce{ReduceKind::max, {0}}, {x}, {1, 3, 2}),
            (std::vector<float>{7, 8, 3, 10, 11, 12}));
  EXPECT_EQ(evaluate_floats(Reduce{ReduceKind::min, {0, 2}}, {x}, {3}),
            (std::vector<float>{-2, -9, 5}));
  const Array bytes = array<std::int8_t>(DataType::int8, {2, 2}, {-128, 3, -7, -9});
  EXPECT_EQ(evaluate_one<std::int8_t>(Reduce{ReduceKind::max, {1}}, {bytes}, {DataType::int8, {2}}),
            (std::vector<std::int8_t>{3, -7}));
}

TEST(Reduce, not_a_number_wins_in_extremes) {
  const Array x = floats({2, 2}, {1, std::nanf(""), std::nanf(""), 1});
  for (const ReduceKind kind : {ReduceKind::min, ReduceKind::max})
    for (const std::int64_t axis : {0, 1})
      for (const float value : evaluate_floats(Reduce{kind, {axis}}, {x}, {2}))
        EXPECT_TRUE(std::isnan(value));
}

TEST(ArgMax, takes_the_first_or_the_last_of_equals) {
  const Array x = floats({2, 3}, {2, 9, 9, 1, 1, 0});
  const test::OutputType output{DataType::int64, {2, 1}};
  EXPECT_EQ(evaluate_one<std::int64_t>(ArgMax{1, false}, {x}, output),
            (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(evaluate_one<std::int64_t>(ArgMax{1, true}, {x}, output),
            (std::vector<std::int64_t>{2, 1}));
}

}  // namespace
}  // namespace millrace::network
