#include "network/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "network/finite.h"

namespace millrace::network {
namespace {

TEST(Tensor, an_impossible_shape_is_an_input_error_and_not_an_overflow) {
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({0, 1LL << 62}), 0);
  EXPECT_THROW(element_count({1LL << 32, 1LL << 32}), InputError);
  EXPECT_THROW(element_count({-1}), InputError);
}

TEST(Tensor, shapes_broadcast_from_the_last_dimension) {
  EXPECT_EQ(broadcast({3, 1, 5}, {4, 1}), (Shape{3, 4, 5}));
  EXPECT_EQ(broadcast({}, {2}), Shape{2});
  EXPECT_EQ(broadcast({2}, {3}), std::nullopt);
}

TEST(Tensor, buffers_are_aligned_and_zero) {
  const Buffer buffer(Bytes{100});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % tensor_alignment, 0u);
  EXPECT_TRUE(std::ranges::all_of(buffer.bytes(), [](std::byte b) { return b == std::byte{}; }));
}

template <class T>
Array with_last(DataType type, std::int64_t count, T last) {
  std::vector<T> values(static_cast<std::size_t>(count), T{1});
  values.back() = last;
  return make_array<T>(type, {count}, values);
}

TEST(Tensor, the_last_value_of_many_decides_whether_all_are_finite) {
  const float infinite = std::numeric_limits<float>::infinity();
  constexpr std::uint16_t half_infinite = 0x7c00, half_largest = 0x7bff;
  for (const std::int64_t count : {1, 4096, 10'001}) {
    const auto finite = [](Array array) { return is_finite(std::vector{std::move(array)}); };
    EXPECT_TRUE(finite(with_last(DataType::float32, count, -3.4e38f)));
    EXPECT_FALSE(finite(with_last(DataType::float32, count, -infinite)));
    EXPECT_FALSE(finite(with_last(DataType::float32, count, std::nanf(""))));
    EXPECT_TRUE(finite(with_last(DataType::float64, count, 1e308)));
    EXPECT_FALSE(finite(with_last(DataType::float64, count, std::nan(""))));
    EXPECT_TRUE(finite(with_last(DataType::float16, count, half_largest)));
    EXPECT_FALSE(finite(with_last(DataType::float16, count, half_infinite)));
    EXPECT_TRUE(finite(with_last<std::int32_t>(DataType::int32, count, -1)));
  }
  EXPECT_TRUE(is_finite({}));
}

TEST(Tensor, strides_are_row_major) { EXPECT_EQ(strides_of({2, 3, 4}), (Shape{12, 4, 1})); }

}  // namespace
}  // namespace millrace::network
