// Maxima and averages over windows against the definition.
#include "kernels/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace millrace::kernels {
namespace {

float value_of(std::int16_t bfloat16) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<std::uint16_t>(bfloat16))
                              << 16);
}

std::int16_t bfloat16(float x) {
  return static_cast<std::int16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
}

/// A number of the result: where it is.
struct Place {
  std::size_t image, row, column, channel;
};

std::size_t index_of(const Pool& pool, const Place& place, std::size_t height, std::size_t width) {
  return ((place.image * height + place.row) * width + place.column) * pool.channels +
         place.channel;
}

std::vector<Place> places_of(const Pool& pool) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < pool.images * pool.height.output * pool.width.output; ++i)
    for (std::size_t channel = 0; channel < pool.channels; ++channel)
      places.push_back({i / pool.width.output / pool.height.output,
                        i / pool.width.output % pool.height.output, i % pool.width.output,
                        channel});
  return places;
}

/// The pixels that the window at `place` along an axis covers inside the image.
std::vector<std::size_t> covered(const PoolAxis& axis, std::size_t place) {
  std::vector<std::size_t> result;
  for (std::size_t k = 0; k < axis.window; ++k) {
    const std::size_t padded = place * axis.stride + k;
    if (padded >= axis.pad && padded - axis.pad < axis.input) result.push_back(padded - axis.pad);
  }
  return result;
}

float largest_of(const Pool& pool, const std::vector<float>& from, const Place& place) {
  float largest = -std::numeric_limits<float>::infinity();
  for (const std::size_t y : covered(pool.height, place.row))
    for (const std::size_t x : covered(pool.width, place.column))
      largest = std::max(largest, from[index_of(pool, {place.image, y, x, place.channel},
                                                pool.height.input, pool.width.input)]);
  return largest;
}

const std::vector<Pool> pools{
    {1, 40, {28, 28, 3, 1, 1}, {28, 28, 3, 1, 1}},  // as in inception modules
    {2, 64, {15, 7, 3, 2, 0}, {17, 8, 3, 2, 0}},    // several images
    {1, 3, {9, 5, 2, 2, 0}, {5, 3, 2, 2, 0}},       // rounded up: the last windows are cut
    {1, 33, {8, 8, 1, 1, 0}, {8, 3, 3, 3, 1}},      // unequal sides
    {1, 1, {1, 1, 3, 1, 1}, {1, 1, 3, 1, 1}},       // one pixel
    {3, 8, {14, 7, 3, 2, 1}, {13, 7, 3, 2, 1}},     // blocks of channels
    {2, 16, {13, 13, 5, 1, 2}, {13, 13, 5, 1, 2}},  // larger windows
    {5, 1, {13, 13, 13, 1, 6}, {13, 13, 13, 1, 6}},
    {5, 1, {56, 28, 3, 2, 1}, {57, 28, 3, 2, 0}},  // rows of pixels
    {5, 1, {40, 40, 4, 1, 1}, {41, 40, 4, 1, 1}},
    {5, 1, {40, 13, 3, 3, 0}, {41, 14, 3, 3, 1}},
    {2, 1, {4, 5, 2, 1, 1}, {3, 3, 7, 2, 4}},  // windows wider than the image
};

std::vector<float> random_bfloat16s(std::size_t count) {
  Random random(1);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(value_of(bfloat16(static_cast<float>(random.uniform(-1, 1)))));
  return values;
}

TEST(MaxPool, equals_its_definition_in_both_types) {
  for (const Pool& pool : pools) {
    const std::vector<float> from =
        random_bfloat16s(pool.images * pool.height.input * pool.width.input * pool.channels);
    std::vector<std::int16_t> short_from;
    for (const float x : from) short_from.push_back(bfloat16(x));
    const std::vector<Place> places = places_of(pool);
    std::vector<float> to(places.size());
    std::vector<std::int16_t> short_to(places.size());
    max_pool(pool, from.data(), to.data());
    max_pool(pool, short_from.data(), short_to.data());
    for (std::size_t i = 0; i < places.size(); ++i) {
      ASSERT_EQ(to[i], largest_of(pool, from, places[i])) << i;
      ASSERT_EQ(value_of(short_to[i]), to[i]) << i;
    }
  }
}

TEST(MaxPool, of_bytes_equals_that_of_the_same_numbers) {
  for (const Pool& pool : pools) {
    Random random(2);
    std::vector<std::uint8_t> from(pool.images * pool.height.input * pool.width.input *
                                   pool.channels);
    for (std::uint8_t& x : from) x = static_cast<std::uint8_t>(random.below(256));
    const std::vector<float> numbers(from.begin(), from.end());
    const std::vector<Place> places = places_of(pool);
    std::vector<std::uint8_t> to(places.size());
    max_pool(pool, from.data(), to.data());
    for (std::size_t i = 0; i < places.size(); ++i)
      ASSERT_EQ(to[i], largest_of(pool, numbers, places[i])) << i;
  }
}

double average_of(const Pool& pool, const std::vector<float>& from, const Place& place) {
  const auto rows = covered(pool.height, place.row), columns = covered(pool.width, place.column);
  double sum = 0;
  for (const std::size_t y : rows)
    for (const std::size_t x : columns)
      sum += from[index_of(pool, {place.image, y, x, place.channel}, pool.height.input,
                           pool.width.input)];
  const std::size_t pixels =
      pool.counts_padding ? pool.height.window * pool.width.window : rows.size() * columns.size();
  return sum / static_cast<double>(pixels);
}

TEST(AveragePool, equals_its_definition) {
  for (Pool pool : pools)
    for (const bool counts_padding : {false, true}) {
      pool.counts_padding = counts_padding;
      const std::vector<float> from =
          random_bfloat16s(pool.images * pool.height.input * pool.width.input * pool.channels);
      const std::vector<Place> places = places_of(pool);
      std::vector<float> to(places.size());
      average_pool(pool, from.data(), to.data());
      for (std::size_t i = 0; i < places.size(); ++i)
        ASSERT_NEAR(to[i], average_of(pool, from, places[i]), 1e-6) << i;
    }
}

TEST(AveragePool, of_equal_numbers_is_this_number) {
  for (Pool pool : pools)
    for (const bool rows_of_pixels : {false, true}) {
      if (rows_of_pixels) pool.channels = 1;
      const std::vector<float> from(
          pool.images * pool.height.input * pool.width.input * pool.channels, 1.f);
      std::vector<float> to(places_of(pool).size());
      average_pool(pool, from.data(), to.data());
      for (const float x : to) ASSERT_EQ(x, 1.f);
    }
}

/// What stands first in a window stays if it is not a number.
TEST(MaxPool, of_large_windows_treats_what_is_no_number_as_that_of_small_ones) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t window : {3, 4, 5, 6}) {
    const Pool pool{1, 1, {window, 1, window, 1, 0}, {1, 1, 1, 1, 0}};
    std::vector<float> from(window, 1.f);
    float to = 0;
    from[0] = nan;
    max_pool(pool, from.data(), &to);
    EXPECT_TRUE(std::isnan(to)) << window;
    from[0] = 2;
    from[window - 1] = nan;
    max_pool(pool, from.data(), &to);
    EXPECT_EQ(to, 2) << window;
  }
}

TEST(MaxPool, of_no_channels_writes_nothing) {
  std::uint8_t to = 7;
  max_pool({1, 0, {4, 2, 2, 2, 0}, {4, 2, 2, 2, 0}}, static_cast<const std::uint8_t*>(nullptr),
           &to);
  EXPECT_EQ(to, 7);
}

}  // namespace
}  // namespace millrace::kernels
