// Conv, ConvTranspose, Pool, and the products behind them, against their definitions.
#include <gtest/gtest.h>

#include <cmath>

#include "evaluate_support.h"
#include "support/network_builder.h"

namespace millrace::network {
namespace {

using test::evaluate_all;
using test::evaluate_floats;
using test::floats;
using test::random_array;

/// The value of x[n][c] at a position, 0 outside.
double at(const Array& x, std::int64_t channel, const Shape& position) {
  std::int64_t flat = channel;
  for (std::size_t d = 0; d < position.size(); ++d) {
    const std::int64_t size = x.shape[d + 2];
    if (position[d] < 0 || position[d] >= size) return 0;
    flat = flat * size + position[d];
  }
  return static_cast<double>(x.values<float>()[static_cast<std::size_t>(flat)]);
}

Shape unravel(std::int64_t flat, const Shape& sizes) {
  Shape position(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0; flat /= sizes[d]) position[d] = flat % sizes[d];
  return position;
}

/// One output of a convolution, straight from its definition.
double conv_at(const Conv& op, const Array& x, const Array& w, const Shape& output) {
  const std::int64_t filter = output[1], per_group = w.shape[1];
  const std::int64_t group = filter / (w.shape[0] / op.groups);
  double sum = 0;
  for (std::int64_t c = 0; c < per_group; ++c)
    for (std::int64_t k = 0; k < element_count(op.window.kernel); ++k) {
      const Shape tap = unravel(k, op.window.kernel);
      Shape position(tap.size());
      for (std::size_t d = 0; d < tap.size(); ++d)
        position[d] = output[d + 2] * op.window.strides[d] - op.window.pads_begin[d] +
                      tap[d] * op.window.dilations[d];
      sum += at(x, output[0] * x.shape[1] + group * per_group + c, position) *
             at(w, filter * per_group + c, tap);
    }
  return sum;
}

Window random_window(Random& random, std::size_t dimensions) {
  const auto some = [&](std::uint64_t least, std::uint64_t bound) {
    return static_cast<std::int64_t>(least + random.below(bound));
  };
  Window window;
  for (std::size_t d = 0; d < dimensions; ++d) {
    window.kernel.push_back(some(1, 4));
    window.strides.push_back(some(1, 3));
    window.dilations.push_back(some(1, 2));
    window.pads_begin.push_back(some(0, 3));
    window.pads_end.push_back(some(0, 3));
  }
  return window;
}

TEST(Conv, agrees_with_its_definition_for_random_geometries) {
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    const std::size_t dimensions = 1 + random.below(3);
    const std::int64_t groups = 1 + static_cast<std::int64_t>(random.below(3));
    const std::int64_t channels = groups * (1 + static_cast<std::int64_t>(random.below(3)));
    const std::int64_t filters = groups * (1 + static_cast<std::int64_t>(random.below(6)));
    const Conv op{random_window(random, dimensions), groups};
    Shape x_shape{2, channels}, w_shape{filters, channels / groups};
    for (std::size_t d = 0; d < dimensions; ++d) {
      x_shape.push_back(8 + static_cast<std::int64_t>(random.below(5)));
      w_shape.push_back(op.window.kernel[d]);
    }
    const Array x = random_array(random, DataType::float32, x_shape);
    const Array w = random_array(random, DataType::float32, w_shape);
    const Array bias = random_array(random, DataType::float32, {filters});
    const Shape shape = test::slide(op.window, x_shape, filters);
    const std::vector<float> y = evaluate_floats(op, {x, w, bias}, shape);
    for (std::size_t j = 0; j < y.size(); ++j) {
      const Shape position = unravel(static_cast<std::int64_t>(j), shape);
      const float b = bias.values<float>()[static_cast<std::size_t>(position[1])];
      ASSERT_NEAR(y[j], conv_at(op, x, w, position) + static_cast<double>(b), 1e-5);
    }
  }
}

TEST(Conv, terms_beyond_one_block_of_depth_are_all_added) {
  const Array x = floats({1, 1500, 1, 3}, std::vector<float>(4500, 1));
  const Array w = floats({5, 1500, 1, 1}, std::vector<float>(7500, 2));
  EXPECT_EQ(evaluate_floats(Conv{test::window(1), 1}, {x, w}, {1, 5, 1, 3}),
            std::vector<float>(15, 3000));
}

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// Whose offsets do not fit one block either; and a million of them take no time by the million.
TEST(Conv, has_large_windows) {
  Random random(4);
  const Conv op{{{1300}, {1}, {1}, {3}, {2}}, 1};
  const Array x = random_array(random, DataType::float32, {1, 2, 1310});
  const Array w = random_array(random, DataType::float32, {1, 2, 1300});
  const std::vector<float> y = evaluate_floats(op, {x, w}, {1, 1, 16});
  for (std::int64_t i = 0; i < 16; ++i)
    EXPECT_NEAR(y[static_cast<std::size_t>(i)], conv_at(op, x, w, {0, 0, i}), 1e-3);
  constexpr std::int64_t size = 1'000'000;
  const Array line = random_array(random, DataType::float32, {1, 1, size});
  evaluate_floats(Conv{{{size}, {1}, {1}, {0}, {0}}, 1}, {line, line}, {1, 1, 1});
}

TEST(ConvTranspose, is_the_adjoint_of_conv) {
  Random random(2);
  for (int i = 0; i < 40; ++i) {
    const std::size_t dimensions = 1 + random.below(3);
    const Window window = random_window(random, dimensions);
    Shape x_shape{2, 6}, w_shape{4, 3};
    for (std::size_t d = 0; d < dimensions; ++d) {
      x_shape.push_back(9);
      w_shape.push_back(window.kernel[d]);
    }
    const Shape y_shape = test::slide(window, x_shape, 4);
    const Array x = random_array(random, DataType::float32, x_shape);
    const Array y = random_array(random, DataType::float32, y_shape);
    const Array w = random_array(random, DataType::float32, w_shape);
    const auto forward = evaluate_floats(Conv{window, 2}, {x, w}, y_shape);
    const auto back = evaluate_floats(ConvTranspose{window, 2}, {y, w}, x_shape);
    ASSERT_NEAR(dot(forward, y.values<float>()), dot(back, x.values<float>()), 1e-3);
  }
}

TEST(Pool, average_divides_by_what_the_window_covers_or_by_the_padding_too) {
  const Array x = floats({1, 1, 1, 3}, {3, 6, 9});
  Pool op{PoolKind::average, test::window(1), false, false};
  op.window.kernel = {1, 3};
  op.window.pads_begin = op.window.pads_end = {0, 1};
  EXPECT_EQ(evaluate_floats(op, {x}, {1, 1, 1, 3}), (std::vector<float>{4.5f, 6, 7.5f}));
  op.count_include_pad = true;
  EXPECT_EQ(evaluate_floats(op, {x}, {1, 1, 1, 3}), (std::vector<float>{3, 6, 5}));
}

TEST(Pool, a_last_window_beyond_the_padding_does_not_count_what_is_there) {
  const Array x = floats({1, 1, 4}, {1, 2, 3, 4});
  const Pool op{PoolKind::average, test::window(3, {.stride = 2, .dimensions = 1}), true, false};
  EXPECT_EQ(evaluate_floats(op, {x}, {1, 1, 2}), (std::vector<float>{2, 3.5f}));
}

TEST(Pool, indices_count_through_the_whole_input_in_either_order) {
  const Array x = floats({1, 2, 2, 2}, {1, 5, 2, 3, 9, 1, 1, 1});
  const std::vector<test::OutputType> outputs{{DataType::float32, {1, 2, 1, 1}},
                                              {DataType::int64, {1, 2, 1, 1}}};
  const auto indices = [&](bool column_major) {
    const Pool op{PoolKind::max, test::window(2), false, column_major};
    const Array found = evaluate_all(op, {x}, outputs)[1];
    const auto values = found.values<std::int64_t>();
    return std::vector<std::int64_t>(values.begin(), values.end());
  };
  EXPECT_EQ(indices(false), (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(indices(true), (std::vector<std::int64_t>{2, 4}));
}

TEST(Pool, padding_never_is_the_maximum) {
  const Array x = floats({1, 1, 2}, {-3, -2});
  const Pool op{PoolKind::max, test::window(2, {.pad = 1, .dimensions = 1}), false, false};
  EXPECT_EQ(evaluate_floats(op, {x}, {1, 1, 3}), (std::vector<float>{-3, -2, -2}));
}

TEST(Gemm, transposes_scales_and_broadcasts) {
  const Array a = floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = floats({2, 3}, {1, 0, 2, 0, 1, 1});
  const Gemm by_rows{.transpose_b = true, .alpha = 2, .beta = 10};
  EXPECT_EQ(evaluate_floats(by_rows, {a, b, floats({2, 1}, {1, 2})}, {2, 2}),
            (std::vector<float>{24, 20, 52, 42}));
  const Gemm by_columns{.transpose_a = true};
  EXPECT_EQ(evaluate_floats(by_columns, {a, b}, {3, 3}),
            (std::vector<float>{1, 4, 6, 2, 5, 9, 3, 6, 12}));
}

TEST(Gemm, of_integers_with_factors_is_exact) {
  const Array x = test::array<std::int32_t>(DataType::int32, {1, 2}, {-3, 5});
  const Array y = test::array<std::int32_t>(DataType::int32, {2, 1}, {7, 2});
  const Array c = test::array<std::int32_t>(DataType::int32, {}, {4});
  EXPECT_EQ(test::evaluate_one<std::int32_t>(Gemm{.alpha = 2, .beta = -1}, {x, y, c},
                                             {DataType::int32, {1, 1}}),
            (std::vector<std::int32_t>{-26}));
}

TEST(MatMul, broadcasts_stacks_and_promotes_vectors) {
  const Array a = floats({2, 1, 1, 2}, {1, 2, 3, 4}), b = floats({2, 2, 1}, {1, 1, 10, 1});
  EXPECT_EQ(evaluate_floats(MatMul{}, {a, b}, {2, 2, 1, 1}), (std::vector<float>{3, 12, 7, 34}));
  EXPECT_EQ(evaluate_floats(MatMul{}, {floats({2}, {1, 2}), floats({2, 2}, {1, 2, 3, 4})}, {2}),
            (std::vector<float>{7, 10}));
}

TEST(Lrn, sums_squares_over_the_channels_around) {
  const Array x = floats({1, 4, 1}, {1, 2, 3, 4});
  const auto y = evaluate_floats(Lrn{2, 2, 1, 1}, {x}, {1, 4, 1});
  // A window of two is the channel and the one behind it.
  EXPECT_NEAR(y[0], 1.0 / (1 + 5), 1e-6);
  EXPECT_NEAR(y[3], 4.0 / (1 + 16), 1e-6);
}

}  // namespace
}  // namespace millrace::network
