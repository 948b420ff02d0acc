#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "evaluate_support.h"

namespace millrace::network {
namespace {

using test::array;
using test::evaluate_one;
using test::floats;

constexpr float infinity = std::numeric_limits<float>::infinity();
const float not_a_number = std::nanf("");

std::vector<std::uint16_t> halves(const std::vector<float>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return evaluate_one<std::uint16_t>(Cast{}, {floats({n}, values)}, {DataType::float16, {n}});
}

TEST(Cast, to_float16_rounds_to_nearest_even) {
  // Halfway between 1 and its successor, just above it, and halfway between odd and even.
  EXPECT_EQ(halves({1.0f, 0x1.002p0f, 0x1.002002p0f, 0x1.006p0f}),
            (std::vector<std::uint16_t>{0x3c00, 0x3c00, 0x3c01, 0x3c02}));
}

TEST(Cast, to_float16_knows_the_ends_of_its_range) {
  EXPECT_EQ(halves({65504, 65519, 65520, -1e10f, infinity}),
            (std::vector<std::uint16_t>{0x7bff, 0x7bff, 0x7c00, 0xfc00, 0x7c00}));
  // The smallest normal number, subnormals, half of the smallest one, and zeros.
  EXPECT_EQ(halves({0x1p-14f, 0x1.ff8p-15f, 0x1p-24f, 0x1p-25f, 0x1.8p-25f, -0.0f}),
            (std::vector<std::uint16_t>{0x0400, 0x03ff, 0x0001, 0x0000, 0x0001, 0x8000}));
  EXPECT_EQ(halves({0x1.ffep-15f}), (std::vector<std::uint16_t>{0x0400}));
  EXPECT_EQ(halves({not_a_number})[0] & 0x7c00, 0x7c00);
  EXPECT_NE(halves({not_a_number})[0] & 0x03ff, 0);
}

TEST(Cast, every_float16_survives_the_way_to_float32_and_back) {
  std::vector<std::uint16_t> all;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const bool is_nan = (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0;
    if (!is_nan) all.push_back(static_cast<std::uint16_t>(bits));
  }
  const Shape shape{static_cast<std::int64_t>(all.size())};
  const std::vector<float> wide = evaluate_one<float>(
      Cast{}, {array(DataType::float16, shape, all)}, {DataType::float32, shape});
  EXPECT_EQ(halves(wide), all);
  EXPECT_EQ(wide[1], 0x1p-24f);
  EXPECT_EQ(wide[0x3c00], 1.0f);
}

TEST(Cast, from_float_to_integers_goes_towards_zero_and_stays_in_range) {
  const Array values = floats({7}, {2.9f, -2.9f, 300, -300, 1e30f, -infinity, not_a_number});
  EXPECT_EQ(evaluate_one<std::int8_t>(Cast{}, {values}, {DataType::int8, {7}}),
            (std::vector<std::int8_t>{2, -2, 127, -128, 127, -128, 0}));
  EXPECT_EQ(evaluate_one<std::uint8_t>(Cast{}, {values}, {DataType::uint8, {7}}),
            (std::vector<std::uint8_t>{2, 0, 255, 0, 255, 0, 0}));
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(evaluate_one<std::int64_t>(Cast{}, {values}, {DataType::int64, {7}}),
            (std::vector<std::int64_t>{2, -2, 300, -300, most, least, 0}));
}

TEST(Cast, between_integers_wraps) {
  const Array values = test::int64s({3}, {257, -1, std::int64_t{1} << 40});
  EXPECT_EQ(evaluate_one<std::uint8_t>(Cast{}, {values}, {DataType::uint8, {3}}),
            (std::vector<std::uint8_t>{1, 255, 0}));
}

TEST(Cast, to_and_from_boolean_knows_only_zero_and_one) {
  EXPECT_EQ(evaluate_one<std::uint8_t>(Cast{}, {floats({4}, {0, -0.0f, 0.25f, not_a_number})},
                                       {DataType::boolean, {4}}),
            (std::vector<std::uint8_t>{0, 0, 1, 1}));
  const Array odd = array<std::uint8_t>(DataType::boolean, {3}, {0, 1, 7});
  EXPECT_EQ(evaluate_one<float>(Cast{}, {odd}, {DataType::float32, {3}}),
            (std::vector<float>{0, 1, 1}));
}

TEST(Arithmetic, of_float16_is_done_in_float32_and_rounded_once) {
  const Array x = array<std::uint16_t>(DataType::float16, {2}, {0x3c00, 0x7bff});  // 1, 65504
  const Array y = array<std::uint16_t>(DataType::float16, {2}, {0x1000, 0x7bff});  // 2^-11
  EXPECT_EQ(evaluate_one<std::uint16_t>(Binary{BinaryKind::add}, {x, y}, {DataType::float16, {2}}),
            (std::vector<std::uint16_t>{0x3c00, 0x7c00}));
}

}  // namespace
}  // namespace millrace::network
