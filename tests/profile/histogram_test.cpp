#include "profile/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace millrace::profile {
namespace {

using network::Range;

Range seen_in(const std::vector<float>& values) {
  Range seen;
  for (const float value : values) {
    seen.low = std::min(seen.low, value);
    seen.high = std::max(seen.high, value);
  }
  return seen;
}

Histogram histogram_of(const std::vector<float>& values) {
  Histogram histogram(seen_in(values));
  histogram.add(values);
  return histogram;
}

/// 1, 2, ..., count
std::vector<float> numbers(int count, float factor = 1) {
  std::vector<float> values;
  for (int i = 1; i <= count; ++i) values.push_back(factor * static_cast<float>(i));
  return values;
}

/// Roughly normal, of deviation 1.
std::vector<float> events(std::size_t count, bool positive) {
  Random random(7);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int k = 0; k < 12; ++k) sum += random.uniform(-0.5f, 0.5f);
    values.push_back(positive ? std::abs(sum) : sum);
  }
  return values;
}

TEST(Histogram, counts_magnitudes_on_either_side_and_no_zeros) {
  const Histogram histogram = histogram_of({-4, 0, 0, 1, 2, 4});
  EXPECT_EQ(histogram.below.back(), 1);
  EXPECT_EQ(histogram.above.back(), 1);
  EXPECT_EQ(histogram.above[512], 1);
  EXPECT_EQ(histogram.above[1024], 1);
  EXPECT_EQ(histogram.above[0] + histogram.below[0], 0);
}

TEST(Histogram, a_tensor_of_zeros_has_an_empty_range) {
  const Histogram histogram = histogram_of({0, 0});
  EXPECT_EQ(percentile_range(histogram, 99), (Range{0, 0}));
  EXPECT_EQ(entropy_range(histogram), (Range{0, 0}));
}

TEST(PercentileRange, leaves_out_as_much_as_asked_for_at_the_top) {
  const Histogram histogram = histogram_of(numbers(10000));
  EXPECT_NEAR(percentile_range(histogram, 99).high, 9900, 5);
  EXPECT_NEAR(percentile_range(histogram, 50).high, 5000, 5);
  EXPECT_EQ(percentile_range(histogram, 99).low, 0);
}

TEST(PercentileRange, leaves_out_half_on_each_side_of_signed_values) {
  std::vector<float> values = numbers(5000, -1);
  for (const float value : numbers(5000, 2)) values.push_back(value);
  const Range range = percentile_range(histogram_of(values), 90);
  EXPECT_NEAR(range.low, -4500, 10);
  EXPECT_NEAR(range.high, 9000, 10);
}

TEST(PercentileRange, of_everything_is_all_that_was_seen) {
  EXPECT_EQ(percentile_range(histogram_of({-3, 1, 7}), 100), (Range{-3, 7}));
}

/// Squared error of these values in 255 steps over the range, in float64.
double squared_error(const std::vector<float>& values, const Range& range) {
  const double step = (double{range.high} - double{range.low}) / 255;
  const double zero = std::nearbyint(-double{range.low} / step);
  double sum = 0;
  for (const float value : values) {
    const double stored = std::clamp(std::nearbyint(double{value} / step) + zero, 0., 255.);
    sum += std::pow(step * (stored - zero) - double{value}, 2);
  }
  return sum / static_cast<double>(values.size());
}

TEST(SquaresRange, leaves_less_error_than_other_ranges_do) {
  const std::vector<float> values = events(200'000, false);
  const Histogram histogram = histogram_of(values);
  const double least = squared_error(values, squares_range(histogram));
  EXPECT_LT(least, squared_error(values, histogram.seen));
  EXPECT_LT(least, squared_error(values, percentile_range(histogram, 99)));
  EXPECT_LT(least, 1.1 * squared_error(values, {-3.9f, 3.9f}));  // nearly the best of a normal one
}

TEST(SquaresRange, keeps_a_rare_value_that_is_not_far_away) {
  std::vector<float> values = events(20'000, true);
  values.push_back(8);
  EXPECT_GT(squares_range(histogram_of(values)).high, 7.f);
}

TEST(SquaresRange, keeps_the_side_of_a_swish_below_zero) {
  std::vector<float> values;
  for (const float x : events(20'000, false)) values.push_back(4 * x / (1 + std::exp(-4 * x)));
  const Range range = squares_range(histogram_of(values));
  EXPECT_LT(range.low, -0.2f);
  EXPECT_GT(range.high, 8.f);
}

TEST(EntropyRange, cuts_off_a_lone_value_far_away) {
  std::vector<float> values = events(100000, true);
  values.push_back(60);
  const Range range = entropy_range(histogram_of(values));
  EXPECT_EQ(range.low, 0);
  EXPECT_LT(range.high, 20);
  EXPECT_GT(range.high, 3);
}

TEST(EntropyRange, keeps_evenly_spread_values_whole) {
  Random random(3);
  std::vector<float> values;
  for (int i = 0; i < 200000; ++i) values.push_back(random.uniform(0, 8));
  EXPECT_GT(entropy_range(histogram_of(values)).high, 7.5);
}

TEST(EntropyRange, is_as_wide_on_both_sides_where_values_go_that_far) {
  std::vector<float> values = events(100000, false);
  values.push_back(-90);
  const Range range = entropy_range(histogram_of(values));
  EXPECT_LT(range.high, 8);
  EXPECT_GT(range.low, -30);
  EXPECT_LT(range.low, -3);
}

}  // namespace
}  // namespace millrace::profile
