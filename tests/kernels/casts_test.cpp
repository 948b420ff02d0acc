// Integers as numbers against the language's own conversions.
#include "kernels/plain/casts.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace millrace::kernels {
namespace {

template <class Integer>
void expect_cast() {
  Random random(2);
  std::vector<Integer> from;
  for (std::size_t i = 0; i < 20'003; ++i) from.push_back(static_cast<Integer>(random()));
  std::vector<float> to(from.size() + 1, 77.f);
  write_numbers_of(std::span<const Integer>(from), to.data());
  for (std::size_t i = 0; i < from.size(); ++i)
    ASSERT_EQ(to[i], static_cast<float>(static_cast<long double>(from[i])));
  EXPECT_EQ(to.back(), 77.f);
}

TEST(Casts, give_the_nearest_numbers) {
  expect_cast<std::int8_t>();
  expect_cast<std::uint8_t>();
  expect_cast<std::int32_t>();
  expect_cast<std::int64_t>();
}

TEST(Casts, of_truths_are_zeros_and_ones) {
  const std::vector<std::uint8_t> from{0, 1, 2, 255, 0};
  std::vector<float> to(5);
  write_truths_of(from, to.data());
  EXPECT_EQ(to, (std::vector<float>{0, 1, 1, 1, 0}));
}

}  // namespace
}  // namespace millrace::kernels
