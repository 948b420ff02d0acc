// Tensors in another order of dimensions: every number where it belongs.
#include "kernels/plain/turn.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/plain/turn_bytes.h"

namespace millrace::kernels {
namespace {

/// Row-major before; `order`: the dimensions from outside to inside after.
std::vector<TurnedAxis> axes_of(const std::vector<std::size_t>& sizes,
                                const std::vector<std::size_t>& order) {
  std::vector<TurnedAxis> axes(sizes.size());
  std::size_t from = 1, to = 1;
  for (std::size_t d = sizes.size(); d-- > 0; from *= sizes[d]) axes[d] = {sizes[d], from, 1};
  for (std::size_t i = order.size(); i-- > 0; to *= sizes[order[i]]) axes[order[i]].to = to;
  return axes;
}

void expect_turned(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& order) {
  const auto axes = axes_of(sizes, order);
  std::size_t count = 1;
  for (const std::size_t size : sizes) count *= size;
  std::vector<float> from(count), to(count + 1, -1.f);
  for (std::size_t i = 0; i < count; ++i) from[i] = static_cast<float>(i);
  turn_numbers(turn_of(axes), from.data(), to.data());
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t place = 0, rest = i;
    for (std::size_t d = sizes.size(); d-- > 0; rest /= sizes[d])
      place += rest % sizes[d] * axes[d].to;
    ASSERT_EQ(to[place], from[i]) << i;
  }
  EXPECT_EQ(to.back(), -1.f);
}

TEST(Turn, puts_every_number_where_it_belongs) {
  expect_turned({37, 51}, {1, 0});
  expect_turned({8, 16}, {1, 0});
  expect_turned({300, 129}, {1, 0});
  expect_turned({2, 19, 7, 33}, {0, 2, 3, 1});
  expect_turned({2, 33, 9, 64}, {0, 2, 1, 3});
  expect_turned({3, 8, 10, 9}, {3, 2, 1, 0});
  expect_turned({5, 1, 3}, {2, 1, 0});
  expect_turned({2, 4, 5, 6, 7}, {4, 0, 2, 1, 3});
  expect_turned({6, 5}, {0, 1});
  expect_turned({1, 1}, {1, 0});
}

TEST(Turn, is_fast_with_long_runs_or_squares) {
  EXPECT_TRUE(is_fast(turn_of(axes_of({2, 33, 9, 64}, {0, 2, 1, 3}))));
  EXPECT_TRUE(is_fast(turn_of(axes_of({384, 1500}, {1, 0}))));
  EXPECT_FALSE(is_fast(turn_of(axes_of({3, 1000}, {1, 0}))));
  EXPECT_FALSE(is_fast(turn_of(axes_of({50, 20, 3}, {1, 0, 2}))));
}

TEST(Turn, joins_dimensions_that_stay_together) {
  const Turn turn = turn_of(axes_of({2, 19, 7, 33}, {0, 2, 3, 1}));
  ASSERT_EQ(turn.axes.size(), 3u);
  EXPECT_EQ(turn.axes[1].size, 7u * 33u);
}

void expect_turned_bytes(std::size_t rows, std::size_t columns) {
  const std::size_t from_apart = columns + 3, to_apart = rows + 5;
  std::vector<std::uint8_t> from(rows * from_apart), to(columns * to_apart, 250);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint8_t>(i % 249);
  turn_bytes({rows, columns, from.data(), from_apart, to.data(), to_apart});
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < to_apart; ++r)
      ASSERT_EQ(to[c * to_apart + r], r < rows ? from[r * from_apart + c] : 250) << r << " " << c;
}

TEST(TurnBytes, makes_rows_of_columns_and_writes_nothing_else) {
  expect_turned_bytes(16, 16);
  expect_turned_bytes(37, 51);
  expect_turned_bytes(3, 100);
  expect_turned_bytes(64, 15);
  expect_turned_bytes(1, 1);
}

}  // namespace
}  // namespace millrace::kernels
