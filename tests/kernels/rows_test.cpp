// Normalisation, sums and extremes of rows against exact arithmetic.
#include "kernels/plain/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "kernels/plain/planes.h"
#include "kernels/plain/row_norm.h"

namespace millrace::kernels {
namespace {

constexpr float nothing = std::numeric_limits<float>::quiet_NaN();

std::vector<float> numbers(std::size_t count, float low = -3, float high = 5) {
  Random random(count);
  std::vector<float> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(random.uniform(low, high));
  return result;
}

const std::vector<DenseRows> shapes{{1, 1},     {3, 7},  {5, 16},   {37, 2},
                                    {4000, 15}, {2, 65}, {700, 33}, {3, 20'001}};

struct ExactMoments {
  double mean = 0, factor = 1;
};
ExactMoments moments(const RowNorm& norm, const float* x) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < norm.size && norm.centred; ++i) sum += double{x[i]};
  const auto size = static_cast<double>(norm.size);
  for (std::size_t i = 0; i < norm.size; ++i) squares += std::pow(double{x[i]} - sum / size, 2);
  return {sum / size, 1 / std::sqrt(squares / size + double{norm.epsilon})};
}

void expect_normalized(const RowNorm& norm) {
  const auto x = numbers(norm.rows * norm.size, 90, 110);
  const auto scale = numbers(norm.period * norm.parts), bias = numbers(norm.period * norm.parts);
  std::vector<float> y(x.size()), means(norm.rows), factors(norm.rows);
  normalize_rows(norm,
                 {x.data(), y.data(), scale.data(), bias.data(), means.data(), factors.data()});
  for (std::size_t row = 0; row < norm.rows; ++row) {
    const ExactMoments m = moments(norm, x.data() + row * norm.size);
    ASSERT_NEAR(means[row], m.mean, 2e-5);
    ASSERT_NEAR(factors[row], m.factor, 1e-5 * m.factor);
    for (std::size_t i = 0; i < norm.size; ++i) {
      const std::size_t part = i / (norm.size / norm.parts);
      const std::size_t at = row % norm.period * norm.parts + part;
      const double value = (double{x[row * norm.size + i]} - m.mean) * m.factor;
      ASSERT_NEAR(y[row * norm.size + i], value * double{scale[at]} + double{bias[at]}, 1e-4)
          << norm.rows << " x " << norm.size << " row " << row << " number " << i;
    }
  }
}

TEST(RowNorm, is_exact_within_rounding_however_scales_spread) {
  for (const bool centred : {true, false}) {
    expect_normalized({1, 1, 1, 1, 1e-5f, centred});
    expect_normalized({5, 13, 13, 1, 1e-5f, centred});
    expect_normalized({6, 35, 1, 3, 1e-5f, centred});
    expect_normalized({6, 34, 2, 3, 1e-5f, centred});
    expect_normalized({300, 197, 197, 1, 1e-5f, centred});
    expect_normalized({4, 30'001, 1, 4, 1e-3f, centred});
    // Short rows of whole vectors, and the next longer ones.
    for (const std::size_t size : {16, 32, 48, 160, 768, 1024, 1040})
      for (const std::size_t rows : {1, 8, 29})
        expect_normalized({rows, size, size, 1, 1e-5f, centred});
  }
}

TEST(RowNorm, of_equal_numbers_is_zero) {
  for (const std::size_t size : {16, 48, 112, 208, 240, 448, 896})
    for (const float value : {3.f, 5.f, 7.f, 11.f}) {
      std::vector<float> x(size * 9, value);
      normalize_rows({9, size, size, 1, 1e-12f}, {x.data(), x.data()});
      for (const float y : x) ASSERT_EQ(y, 0.f) << size << " times " << value;
    }
}

TEST(RowNorm, needs_no_scales_and_may_work_in_place) {
  for (const std::size_t size : {37, 48}) {
    const RowNorm norm{13, size, size};
    auto x = numbers(norm.rows * norm.size);
    std::vector<float> y(x.size());
    normalize_rows(norm, {x.data(), y.data()});
    const ExactMoments m = moments(norm, x.data());
    EXPECT_NEAR(y[5], (double{x[5]} - m.mean) * m.factor, 1e-6);
    normalize_rows(norm, {x.data(), x.data()});
    EXPECT_EQ(x, y);
  }
}

TEST(Rows, are_summed_exactly_within_rounding) {
  for (const DenseRows& rows : shapes) {
    const auto x = numbers(rows.count * rows.size);
    std::vector<float> plain(rows.count), magnitudes(rows.count), squares(rows.count);
    sum_rows(rows, RowSum::plain, x.data(), plain.data());
    sum_rows(rows, RowSum::magnitudes, x.data(), magnitudes.data());
    sum_rows(rows, RowSum::squares, x.data(), squares.data());
    for (std::size_t row = 0; row < rows.count; ++row) {
      double a = 0, b = 0, c = 0;
      for (std::size_t i = row * rows.size; i < (row + 1) * rows.size; ++i) {
        a += double{x[i]};
        b += std::abs(double{x[i]});
        c += double{x[i]} * double{x[i]};
      }
      ASSERT_NEAR(plain[row], a, 1e-6 * b);
      ASSERT_NEAR(magnitudes[row], b, 1e-6 * b);
      ASSERT_NEAR(squares[row], c, 1e-6 * c);
    }
  }
}

TEST(Rows, have_extremes_and_their_indices) {
  for (const DenseRows& rows : shapes) {
    const auto x = numbers(rows.count * rows.size);
    std::vector<float> largest(rows.count), smallest(rows.count);
    std::vector<std::int64_t> where(rows.count);
    extremes_of_rows(rows, false, x.data(), largest.data());
    extremes_of_rows(rows, true, x.data(), smallest.data());
    indices_of_extremes(rows, {}, x.data(), where.data());
    for (std::size_t row = 0; row < rows.count; ++row) {
      const float* const first = x.data() + row * rows.size;
      const auto best = std::max_element(first, first + rows.size);
      ASSERT_EQ(largest[row], *best);
      ASSERT_EQ(smallest[row], *std::min_element(first, first + rows.size));
      ASSERT_EQ(where[row], best - first);
    }
  }
}

TEST(Rows, of_equal_numbers_have_the_first_index_or_the_last) {
  const std::vector<float> x{1, 5, 2, 5, 0, 0};
  std::int64_t index = -1;
  indices_of_extremes(DenseRows{1, 6}, {false, false}, x.data(), &index);
  EXPECT_EQ(index, 1);
  indices_of_extremes(DenseRows{1, 6}, {false, true}, x.data(), &index);
  EXPECT_EQ(index, 3);
  indices_of_extremes(DenseRows{1, 6}, {true, true}, x.data(), &index);
  EXPECT_EQ(index, 5);
}

TEST(Rows, with_what_is_no_number_have_no_extreme_and_the_index_of_another) {
  const std::vector<float> x{1, nothing, 2, nothing, 3, 4};
  std::vector<float> largest(3);
  std::vector<std::int64_t> where(3);
  extremes_of_rows({3, 2}, false, x.data(), largest.data());
  EXPECT_TRUE(std::isnan(largest[0]) && std::isnan(largest[1]));
  EXPECT_EQ(largest[2], 4);
  indices_of_extremes(DenseRows{3, 2}, {}, x.data(), where.data());
  EXPECT_EQ(where, (std::vector<std::int64_t>{0, 0, 1}));
  const std::vector<float> first{nothing, 9};
  indices_of_extremes(DenseRows{1, 2}, {}, first.data(), where.data());
  EXPECT_EQ(where[0], 0);
}

void expect_indices_of_rows(const DenseColumns& columns, const IndexOfExtreme& which) {
  auto x = numbers(columns.planes * columns.size * columns.inner);
  for (float& each : x) each = std::round(each);  // so that some are equal
  std::vector<std::int64_t> found(columns.planes * columns.inner);
  indices_of_extremes(columns, which, x.data(), found.data());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t plane = i / columns.inner, column = i % columns.inner;
    std::vector<float> row;
    for (std::size_t n = 0; n < columns.size; ++n)
      row.push_back(x[(plane * columns.size + n) * columns.inner + column]);
    std::int64_t expected = -1;
    indices_of_extremes(DenseRows{1, columns.size}, which, row.data(), &expected);
    ASSERT_EQ(found[i], expected) << i;
  }
}

TEST(Columns, have_the_indices_that_rows_have) {
  for (const bool smallest : {false, true})
    for (const bool last : {false, true}) expect_indices_of_rows({2, 21, 1031}, {smallest, last});
}

TEST(Planes, are_shifted_and_scaled_by_channel) {
  PlaneMap map{6, 37, numbers(3), numbers(3, 0.5, 2), numbers(3), false};
  const auto x = numbers(map.planes * map.size);
  std::vector<float> y(x.size()), positive(x.size());
  write_planes(map, x.data(), y.data());
  map.relu = true;
  write_planes(map, x.data(), positive.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i / map.size % 3;
    const double expected =
        (double{x[i]} - double{map.mean[c]}) * double{map.factor[c]} + double{map.shift[c]};
    ASSERT_NEAR(y[i], expected, 1e-5);
    ASSERT_EQ(positive[i], std::max(y[i], 0.f));
  }
}

}  // namespace
}  // namespace millrace::kernels
