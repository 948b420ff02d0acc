// Cumulative sums against the same sums in double precision.
#include "kernels/plain/cumulate.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace millrace::kernels {
namespace {

double exact(const Cumulation& axis, const std::vector<float>& x, std::size_t i) {
  const std::size_t n = i / axis.inner % axis.size, first = i - n * axis.inner;
  double sum = 0;
  for (std::size_t k = 0; k < axis.size; ++k) {
    const bool before = axis.reverse ? k > n : k < n;
    if (before || (k == n && !axis.exclusive)) sum += double{x[first + k * axis.inner]};
  }
  return sum;
}

void expect_cumulated(const Cumulation& axis) {
  Random random(3);
  std::vector<float> x, y(axis.outer * axis.size * axis.inner + 1, 77.f);
  for (std::size_t i = 0; i + 1 < y.size(); ++i) x.push_back(random.uniform(-1, 1));
  cumulate(axis, x.data(), y.data());
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(y[i], exact(axis, x, i), 2e-5) << i << " of " << axis.inner;
  EXPECT_EQ(y.back(), 77.f);
}

TEST(Cumulation, adds_up_along_any_axis_in_either_direction) {
  for (const bool exclusive : {false, true})
    for (const bool reverse : {false, true}) {
      expect_cumulated({7, 33, 1, exclusive, reverse});
      expect_cumulated({3, 5, 17, exclusive, reverse});
      expect_cumulated({2, 40, 515, exclusive, reverse});
    }
}

}  // namespace
}  // namespace millrace::kernels
