// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "evaluate_support.h"

namespace millrace::network {
namespace {

using test::array;
using test::evaluate_floats;
using test::evaluate_one;
using test::floats;

Array bytes(Shape shape, const std::vector<std::uint8_t>& values) {
  return array<std::uint8_t>(DataType::uint8, std::move(shape), values);
}
Array signed_bytes(Shape shape, const std::vector<std::int8_t>& values) {
  return array<std::int8_t>(DataType::int8, std::move(shape), values);
}

std::vector<std::uint8_t> to_bytes(const Scaling& scaling, const std::vector<Array>& inputs) {
  return evaluate_one<std::uint8_t>(QuantizeLinear{scaling}, inputs,
                                    {DataType::uint8, inputs[0].shape});
}
std::vector<float> to_floats(const Scaling& scaling, const std::vector<Array>& inputs) {
  return evaluate_floats(DequantizeLinear{scaling}, inputs, inputs[0].shape);
}

TEST(QuantizeLinear, rounds_halves_to_the_even_number_before_it_adds_the_zero_point) {
  const Array x = floats({7}, {1, 3, 5, -1, -3, 2.9f, 3.1f});
  EXPECT_EQ(to_bytes({}, {x, floats({}, {2}), bytes({}, {101})}),
            (std::vector<std::uint8_t>{101, 103, 103, 101, 99, 102, 103}));
}

TEST(QuantizeLinear, clamps_to_the_range_of_the_type) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Array x = floats({6}, {1e30f, -1e30f, infinity, -infinity, 254.5f, -0.6f});
  EXPECT_EQ(to_bytes({}, {x, floats({1}, {1})}),
            (std::vector<std::uint8_t>{255, 0, 255, 0, 254, 0}));
  EXPECT_EQ(evaluate_one<std::int16_t>(QuantizeLinear{},
                                       {floats({3}, {1e9f, -1e9f, 40000}), floats({}, {1}),
                                        array<std::int16_t>(DataType::int16, {}, {-10000})},
                                       {DataType::int16, {3}}),
            (std::vector<std::int16_t>{32767, -32768, 30000}));
}

TEST(QuantizeLinear, agrees_with_rounding_in_double_for_all_small_types) {
  Random random(3);
  std::vector<float> values(2000);
  for (float& value : values) value = random.uniform(-40, 40);
  const float scale = 0.15f;
  const std::vector<Array> inputs{floats({2000}, values), floats({}, {scale}),
                                  signed_bytes({}, {-7})};
  const auto found = evaluate_one<std::int8_t>(QuantizeLinear{}, inputs, {DataType::int8, {2000}});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double level = std::nearbyint(static_cast<double>(values[i] / scale)) - 7;
    EXPECT_EQ(static_cast<double>(found[i]), std::clamp(level, -128.0, 127.0)) << values[i];
  }
}

TEST(QuantizeLinear, takes_integers) {
  const Array x = array<std::int32_t>(DataType::int32, {3}, {10, -10, 25});
  EXPECT_EQ(to_bytes({}, {x, floats({}, {10}), bytes({}, {5})}),
            (std::vector<std::uint8_t>{6, 4, 7}));
}

TEST(QuantizeLinear, computes_halves_in_single_precision) {
  // 1, 3 and -1 in half precision; the scale is 2.
  const Array x = array<std::uint16_t>(DataType::float16, {3}, {0x3c00, 0x4200, 0xbc00});
  const Array scale = array<std::uint16_t>(DataType::float16, {}, {0x4000});
  EXPECT_EQ(to_bytes({}, {x, scale, bytes({}, {9})}), (std::vector<std::uint8_t>{9, 11, 9}));
}

TEST(DequantizeLinear, subtracts_the_zero_point_and_scales) {
  EXPECT_EQ(to_floats({}, {bytes({4}, {0, 3, 128, 255}), floats({1}, {2}), bytes({1}, {128})}),
            (std::vector<float>{-256, -250, 0, 254}));
  EXPECT_EQ(to_floats({}, {signed_bytes({2}, {-128, 127}), floats({}, {0.5f})}),
            (std::vector<float>{-64, 63.5f}));
}

TEST(DequantizeLinear, takes_wide_integers_without_overflow) {
  const Array x = array<std::int32_t>(DataType::int32, {2}, {std::numeric_limits<int>::min(), 7});
  const Array zero = array<std::int32_t>(DataType::int32, {}, {1000});
  const auto y = to_floats({}, {x, floats({}, {1}), zero});
  EXPECT_FLOAT_EQ(y[0], -2147484648.0f);
  EXPECT_EQ(y[1], -993.0f);
}

TEST(DequantizeLinear, to_halves_computes_in_single_precision) {
  const Array scale = array<std::uint16_t>(DataType::float16, {}, {0x4000});  // 2
  EXPECT_EQ(evaluate_one<std::uint16_t>(DequantizeLinear{}, {signed_bytes({2}, {1, -1}), scale},
                                        {DataType::float16, {2}}),
            (std::vector<std::uint16_t>{0x4000, 0xc000}));
}

/// scale and zero point of element (i, j, k) by the definition.
TEST(Scaling, belongs_to_indices_of_the_axis) {
  const Shape shape{2, 3, 4};
  std::vector<std::uint8_t> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(10 * i);
  const std::vector<float> scales{1, 2, 4, 8};
  const std::vector<std::uint8_t> zeros{1, 3, 5, 7};
  for (const std::int64_t axis : {0, 1, 2}) {
    const std::int64_t n = shape[static_cast<std::size_t>(axis)];
    const Array scale = floats({n}, {scales.begin(), scales.begin() + n});
    const Array zero = bytes({n}, {zeros.begin(), zeros.begin() + n});
    const auto y = to_floats({axis, 0}, {bytes(shape, values), scale, zero});
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t at = axis == 0 ? i / 12 : axis == 1 ? i / 4 % 3 : i % 4;
      EXPECT_EQ(y[i], static_cast<float>(values[i] - zeros[at]) * scales[at]) << axis << " " << i;
    }
    EXPECT_EQ(to_bytes({axis, 0}, {floats(shape, y), scale, zero}), values) << axis;
  }
}

TEST(Scaling, belongs_to_blocks_of_the_axis_of_which_the_last_may_be_shorter) {
  const Shape shape{2, 5, 3};
  std::vector<std::uint8_t> values(30);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(8 * i);
  for (const std::int64_t axis : {0, 1, 2}) {
    Shape blocks = shape;
    std::int64_t& size = blocks[static_cast<std::size_t>(axis)];
    size = (size + 1) / 2;
    std::vector<float> scales(static_cast<std::size_t>(element_count(blocks)));
    for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<float>(i + 1);
    const auto y = to_floats({axis, 2}, {bytes(shape, values), floats(blocks, scales)});
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::array<std::size_t, 3> at{i / 15, i / 3 % 5, i % 3};
      at[static_cast<std::size_t>(axis)] /= 2;
      const Shape strides = strides_of(blocks);
      std::size_t flat = 0;
      for (std::size_t d = 0; d < 3; ++d) flat += at[d] * static_cast<std::size_t>(strides[d]);
      EXPECT_EQ(y[i], static_cast<float>(values[i]) * scales[flat]) << axis << " " << i;
    }
  }
}

TEST(DynamicQuantizeLinear, covers_the_values_and_zero) {
  const std::vector<test::OutputType> outputs{
      {DataType::uint8, {4}}, {DataType::float32, {}}, {DataType::uint8, {}}};
  const auto all =
      test::evaluate_all(DynamicQuantizeLinear{}, {floats({4}, {2, 4, 5.1f, 3})}, outputs);
  EXPECT_FLOAT_EQ(all[1].values<float>()[0], 5.1f / 255);
  EXPECT_EQ(all[2].values<std::uint8_t>()[0], 0);
  EXPECT_EQ(all[0].values<std::uint8_t>()[2], 255);
  const auto nothing =
      test::evaluate_all(DynamicQuantizeLinear{}, {floats({4}, {0, 0, 0, 0})}, outputs);
  EXPECT_EQ(nothing[0].values<std::uint8_t>()[3], 0);
  EXPECT_EQ(nothing[1].values<float>()[0], 1.0f);
}

}  // namespace
}  // namespace millrace::network
