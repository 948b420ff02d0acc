#include "network/tensor.h"

#include <gtest/gtest.h>

#include "base/error.h"

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

TEST(Tensor, strides_are_row_major) { EXPECT_EQ(strides_of({2, 3, 4}), (Shape{12, 4, 1})); }

}  // namespace
}  // namespace millrace::network
