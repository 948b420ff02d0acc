// Softmax of rows and columns against exact arithmetic.
#include "kernels/plain/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace millrace::kernels {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> numbers(std::size_t count, float largest = 30) {
  Random random(count);
  std::vector<float> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(random.uniform(-largest, largest));
  return result;
}

/// One row, which may be any. What is below the smallest normal number may be 0.
void expect_softmax(const std::vector<float>& x, const std::vector<float>& y, bool logarithm) {
  double sum = 0;
  for (const float number : x) sum += std::exp(double{number});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = std::exp(double{x[i]}) / sum;
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(y[i])) << i;
    else if (x[i] == -infinity)
      ASSERT_EQ(y[i], logarithm ? -infinity : 0) << i;
    else if (logarithm)
      ASSERT_NEAR(y[i], x[i] - std::log(sum), 2e-5 + 1e-7 * std::abs(x[i] - std::log(sum))) << i;
    else
      ASSERT_NEAR(y[i], expected, 5e-6 * expected + 2e-38) << i;
  }
}

std::vector<float> row_of(const std::vector<float>& all, std::size_t row, std::size_t size) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(row * size);
  return {first, first + static_cast<std::ptrdiff_t>(size)};
}

/// A number in the first and one in the last row is none.
std::vector<float> with_none(std::vector<float> x, std::size_t size) {
  x[size / 2] = x[x.size() - 1] = std::numeric_limits<float>::quiet_NaN();
  return x;
}

TEST(Softmax, of_rows_is_right_in_place_too) {
  for (const DenseRows& rows : {DenseRows{3, 7},
                                {5, 16},
                                {37, 2},
                                {4000, 15},
                                {2, 65},
                                {700, 33},
                                {90, 21},
                                {3, 20'001},
                                {33, 48},
                                {200, 17},
                                {1, 1}})
    for (const bool logarithm : {false, true}) {
      const auto x = with_none(numbers(rows.count * rows.size), rows.size);
      std::vector<float> y(x.size()), in_place = x;
      softmax_rows(rows, logarithm, x.data(), y.data());
      softmax_rows(rows, logarithm, in_place.data(), in_place.data());
      for (std::size_t row = 0; row < rows.count; ++row) {
        expect_softmax(row_of(x, row, rows.size), row_of(y, row, rows.size), logarithm);
        expect_softmax(row_of(x, row, rows.size), row_of(in_place, row, rows.size), logarithm);
      }
    }
}

/// The columns as rows.
std::vector<float> turned(const DenseColumns& columns, const std::vector<float>& all) {
  std::vector<float> rows(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t plane = i / (columns.size * columns.inner), column = i % columns.inner;
    const std::size_t number = i / columns.inner % columns.size;
    rows[(plane * columns.inner + column) * columns.size + number] = all[i];
  }
  return rows;
}

TEST(Softmax, of_columns_is_right_in_place_too) {
  for (const DenseColumns& columns : {DenseColumns{2, 19, 1031}, {3, 5, 16}, {1, 2, 600}})
    for (const bool logarithm : {false, true}) {
      const auto x = with_none(numbers(columns.planes * columns.size * columns.inner), 14);
      std::vector<float> y(x.size()), in_place = x;
      softmax_columns(columns, logarithm, x.data(), y.data());
      softmax_columns(columns, logarithm, in_place.data(), in_place.data());
      const auto given = turned(columns, x), found = turned(columns, y);
      const auto found_in_place = turned(columns, in_place);
      for (std::size_t row = 0; row < columns.planes * columns.inner; ++row) {
        const auto numbers_of = [&](const auto& all) { return row_of(all, row, columns.size); };
        expect_softmax(numbers_of(given), numbers_of(found), logarithm);
        expect_softmax(numbers_of(given), numbers_of(found_in_place), logarithm);
      }
    }
}

/// As attention masks them: each third number, and all of one row.
std::vector<float> masked(std::vector<float> x, std::size_t size) {
  for (std::size_t i = 0; i < x.size(); i += 3) x[i] = -infinity;
  for (std::size_t i = 0; i < size; ++i) x[size + i] = -infinity;
  return x;
}

TEST(Softmax, of_rows_is_0_for_what_is_masked_or_far_below_the_largest) {
  for (const DenseRows& rows : {DenseRows{20, 5}, {7, 16}, {9, 77}, {2, 1500}})
    for (const bool logarithm : {false, true}) {
      const auto x = masked(numbers(rows.count * rows.size, 400), rows.size);
      std::vector<float> y(x.size());
      softmax_rows(rows, logarithm, x.data(), y.data());
      for (std::size_t row = 0; row < rows.count; ++row)
        expect_softmax(row_of(x, row, rows.size), row_of(y, row, rows.size), logarithm);
    }
}

TEST(Softmax, of_columns_is_0_for_what_is_masked_or_far_below_the_largest) {
  for (const DenseColumns& columns : {DenseColumns{2, 19, 131}, {3, 5, 16}, {1, 2, 60}})
    for (const bool logarithm : {false, true}) {
      const std::size_t size = columns.size, rows = columns.planes * columns.inner;
      const auto as_rows = masked(numbers(rows * size, 400), size);
      std::vector<float> x = as_rows;
      const auto places = [&](std::size_t i) {  // of the number i of `as_rows` in `x`
        const std::size_t row = i / size, plane = row / columns.inner;
        return (plane * size + i % size) * columns.inner + row % columns.inner;
      };
      for (std::size_t i = 0; i < x.size(); ++i) x[places(i)] = as_rows[i];
      std::vector<float> y(x.size());
      softmax_columns(columns, logarithm, x.data(), y.data());
      const auto found = turned(columns, y);
      for (std::size_t row = 0; row < rows; ++row)
        expect_softmax(row_of(as_rows, row, size), row_of(found, row, size), logarithm);
    }
}

}  // namespace
}  // namespace millrace::kernels
