// Resampling against sums in double precision.
#include "kernels/plain/resample.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace millrace::kernels {
namespace {

AxisTaps random_taps(Random& random, std::size_t outputs, std::size_t taps, std::size_t inputs) {
  AxisTaps axis{outputs, taps, {}, {}};
  for (std::size_t i = 0; i < outputs * taps; ++i) {
    axis.positions.push_back(static_cast<std::int32_t>(random.below(inputs)));
    axis.weights.push_back(taps == 1 ? 1.f : random.uniform(-1, 1));
  }
  return axis;
}

double exact(const Resampling& r, const std::vector<float>& from, std::size_t i) {
  const std::size_t n = i % r.inner, x = i / r.inner % r.across.outputs;
  const std::size_t row = i / r.inner / r.across.outputs;
  const std::size_t y = row % r.down.outputs, image = row / r.down.outputs;
  double sum = 0;
  for (std::size_t a = 0; a < r.down.taps; ++a)
    for (std::size_t b = 0; b < r.across.taps; ++b) {
      const std::size_t down = a * r.down.outputs + y, across = b * r.across.outputs + x;
      const auto top = static_cast<std::size_t>(r.down.positions[down]);
      const auto left = static_cast<std::size_t>(r.across.positions[across]);
      sum += double{r.down.weights[down]} * double{r.across.weights[across]} *
             double{from[((image * r.rows + top) * r.columns + left) * r.inner + n]};
    }
  return sum;
}

void expect_resampled(Resampling r, std::size_t taps_down, std::size_t taps_across) {
  Random random(taps_down * 10 + taps_across);
  r.down = random_taps(random, 2 * r.rows + 1, taps_down, r.rows);
  r.across = random_taps(random, 3 * r.columns + 2, taps_across, r.columns);
  // Rows that are made in the same way follow each other.
  for (std::size_t tap = 0; tap < taps_down; ++tap) {
    const std::size_t i = tap * r.down.outputs;
    r.down.positions[i + 1] = r.down.positions[i];
    r.down.weights[i + 1] = r.down.weights[i];
  }
  std::vector<float> from;
  for (std::size_t i = 0; i < r.images * r.rows * r.columns * r.inner; ++i)
    from.push_back(random.uniform(-1, 1));
  std::vector<float> to(r.images * r.down.outputs * r.across.outputs * r.inner + 1, 77.f);
  resample(r, from.data(), to.data());
  for (std::size_t i = 0; i + 1 < to.size(); ++i)
    ASSERT_NEAR(to[i], exact(r, from, i), 1e-5) << i << " of " << r.inner;
  EXPECT_EQ(to.back(), 77.f);
}

TEST(Resampling, adds_weighted_pixels_of_any_layout) {
  for (const std::size_t down : {1, 2, 4, 7})
    for (const std::size_t across : {1, 2, 4, 7}) {
      expect_resampled({3, 5, 7, 1, {}, {}}, down, across);
      expect_resampled({2, 5, 7, 3, {}, {}}, down, across);
      expect_resampled({2, 6, 5, 35, {}, {}}, down, across);
      expect_resampled({1, 33, 40, 17, {}, {}}, down, across);
    }
}

TEST(Resampling, may_write_each_number_twice) {
  AxisTaps down{3, 1, {0, 1, 1}, {1, 1, 1}}, across{38, 1, {}, std::vector<float>(38, 1.f)};
  for (std::int32_t i = 0; i < 38; ++i) across.positions.push_back(i / 2);
  std::vector<float> from(2 * 19), to(3 * 38);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
  const Resampling resampling{1, 2, 19, 1, down, across};
  resample(resampling, from.data(), to.data());
  for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(to[i], exact(resampling, from, i)) << i;
}

}  // namespace
}  // namespace millrace::kernels
