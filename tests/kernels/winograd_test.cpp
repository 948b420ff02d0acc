// Winograd convolutions against the definition.
#include "kernels/winograd/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/winograd/winograd_points.h"
#include "machine.h"
#include "network/tensor.h"
#include "own_samples.h"

namespace millrace::kernels {
namespace {

using namespace test::kernels;  // NOLINT: the vocabulary of these tests

/// Pixels and residuals as they can be stored.
Sample fitted(const WinogradConvolution& c, Sample sample) {
  const auto fit = [](StoredNumber number, std::vector<float>& values) {
    for (float& value : values)
      value = as_stored(number, size_of(number) == 1 ? 127 * value : value);
  };
  fit(c.source, sample.source);
  fit(c.added, sample.before);
  return sample;
}

float scale_of(const WinogradConvolution& c) { return size_of(c.source) == 1 ? 1 / 256.f : 1.f; }

std::vector<float> computed(const WinogradConvolution& c, const Sample& sample) {
  const auto bytes_of = [](std::size_t count) { return Bytes{static_cast<std::int64_t>(count)}; };
  const WinogradTiles tiles(c);
  network::Buffer weights(bytes_of(packed_size(c)));
  pack_weights(c, sample.weights, weights.bytes());
  network::Buffer working(bytes_of(tiles.working * sizeof(float)));
  auto* const places = reinterpret_cast<float*>(working.data());
  // What was there before must not matter.
  std::fill_n(places, tiles.working, std::numeric_limits<float>::quiet_NaN());
  const std::vector<std::byte> source = stored(c.source, sample.source);
  std::vector<std::byte> result = stored(c.added, sample.before);
  WinogradOperands operands;
  operands.source = source.data();
  operands.weights = reinterpret_cast<const float*>(weights.data());
  operands.bias = sample.bias.data();
  operands.working = places;
  operands.result = result.data();
  operands.scale = scale_of(c);
  convolve(c, tiles, operands);
  return numbers_of(c.result, result);
}

double error_of(const WinogradConvolution& c, const Sample& given) {
  const Sample sample = fitted(c, given);
  return test::kernels::error_of(c, sample, computed(c, sample), double{scale_of(c)});
}

/// An axis with a window of 3.
WindowAxis axis_of_3(Random& random) {
  WindowAxis axis;
  axis.window = 3;
  axis.pad = random.below(3);
  axis.input = 1 + random.below(24);
  const std::size_t after = random.below(3);
  if (axis.input + axis.pad + after < 3) axis.input = 3;
  axis.output = axis.input + axis.pad + after - 2;
  return axis;
}

WinogradConvolution random_convolution(Random& random) {
  constexpr std::size_t channels[] = {1, 3, 8, 16, 17, 31, 32, 33, 64, 100};
  WinogradConvolution c;
  c.images = 1 + random.below(3);
  c.channels = channels[random.below(10)];
  c.outputs = channels[random.below(10)];
  c.height = axis_of_3(random);
  c.width = axis_of_3(random);
  c.tile = random.below(2) == 0 ? 2 : 4;
  do {
    c.lanes = std::size_t{4} << random.below(3);
  } while (c.lanes > vector_lanes());
  c.adds = random.below(2) == 0;
  if (random.below(3) == 0) c.activation.slope = 0.1f;
  if (random.below(3) == 0) c.activation = {1, 0, random.below(2) == 0 ? 1.f : 1e9f};
  if (random.below(4) == 0) {
    c.activation = {};
    c.activation.swish = true;
  }
  c.adds_last = c.adds && random.below(2) == 0;
  return c;
}

std::string describe(const WinogradConvolution& c) {
  return test::kernels::describe(c) + " tile " + std::to_string(c.tile) + " lanes " +
         std::to_string(c.lanes);
}

TEST(Winograd, is_what_the_definition_says) {
  Random random(1);
  for (int i = 0; i < 150; ++i) {
    const WinogradConvolution c = random_convolution(random);
    EXPECT_LT(error_of(c, Sample(c, random)), c.tile == 4 ? 2e-5 : 4e-6) << describe(c);
  }
}

/// Whether integers, and numbers of 16 bits, can be tried here.
bool has_products() { return has_integer_loops() && has_integer_products() && has_bfloat16(); }

WinogradConvolution with_integers(WinogradConvolution c, Random& random) {
  c.lanes = 16;
  if (random.below(2) == 0) {
    c = with_bytes(c, random);
    if (c.activation.swish && size_of(c.result) == 1) c.activation.unit = 20;
    return c;
  }
  c.source = random.below(2) == 0 ? StoredNumber::bf16 : StoredNumber::f16;
  c.result = c.added = c.source;
  return c;
}

/// Whether the factors are 8-bit integers.
bool has_bytes(const WinogradConvolution& c) { return size_of(c.source) == 1 && c.tile == 2; }

TEST(Winograd, integers_err_by_less_than_a_rounding_to_bfloat16_and_bytes_by_a_few_steps) {
  if (!has_products()) GTEST_SKIP() << "no such products here";
  Random random(4);
  for (int i = 0; i < 300; ++i) {
    const WinogradConvolution c = with_integers(random_convolution(random), random);
    // In steps of the result, of which a swish may have more.
    const double bound = (has_bytes(c) ? 5. / 256 : 1. / 256) * double{c.activation.unit};
    EXPECT_LT(error_of(c, Sample(c, random)), bound) << describe(c);
  }
}

TEST(Winograd, bytes_are_exact_where_nothing_is_rounded) {
  if (!has_products()) GTEST_SKIP() << "no such products here";
  WinogradConvolution c;
  c.channels = 70;
  c.outputs = 40;
  c.height = c.width = {9, 9, 3, 1, 1, 1};
  c.tile = 2;
  c.source = StoredNumber::u8;
  Random random(8);
  Sample sample(c, random);
  // Four pixels together stay below 128, and windows of one weight are multiples of it at all
  // points.
  for (float& pixel : sample.source) pixel = static_cast<float>(random.below(32)) / 127;
  for (std::size_t i = 0; i < sample.weights.size(); ++i)
    sample.weights[i] = i % 9 == 4 ? (i / 9 % 3 == 0 ? 508.f : -508.f) : 0.f;
  EXPECT_LT(error_of(c, sample), 1e-6);
}

/// What a pixel of a row adds to the row's number at a point.
float share_at_point(std::size_t pixel, std::size_t point) {
  float row[6] = {}, at[6];
  row[pixel] = 1;
  to_points(row, at);
  return at[point];
}

/// A convolution of one tile, of bfloat16 numbers.
WinogradConvolution one_tile(std::size_t channels) {
  WinogradConvolution c;
  c.channels = channels;
  c.outputs = 16;
  c.height = c.width = {6, 4, 3, 1, 1, 0};
  c.source = c.result = c.added = StoredNumber::bf16;
  return c;
}

TEST(Winograd, sums_of_integers_do_not_overflow_whatever_the_pixels_are) {
  if (!has_products()) GTEST_SKIP() << "no such products here";
  Random random(5);
  for (const std::size_t channels : {1u, 7u, 64u, 600u})
    for (std::size_t point = 0; point < 36; ++point) {
      const WinogradConvolution c = one_tile(channels);
      Sample sample(c, random);
      for (std::size_t i = 0; i < sample.source.size(); ++i) {
        const std::size_t pixel = i / channels;
        const float share =
            share_at_point(pixel / 6, point / 6) * share_at_point(pixel % 6, point % 6);
        sample.source[i] = share < 0 ? -1000.f : 1000.f;
      }
      for (float& weight : sample.weights) weight = std::abs(weight);
      EXPECT_LT(error_of(c, sample), 1. / 256) << channels << " at " << point;
    }
}

TEST(Winograd, integers_take_any_pixels) {
  if (!has_products()) GTEST_SKIP() << "no such products here";
  Random random(6);
  const WinogradConvolution c = one_tile(40);
  for (const float factor : {0.f, 1e-37f, 1e-29f, 1e30f}) {
    Sample sample(c, random);
    for (float& pixel : sample.source) pixel *= factor;
    EXPECT_LT(error_of(c, sample), 1. / 256) << factor;
  }
  for (const float odd :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 3e38f}) {
    Sample sample(c, random);
    sample.source[99] = odd;
    for (const float y : computed(c, fitted(c, sample))) EXPECT_TRUE(std::isnan(y)) << odd;
  }
}

TEST(Winograd, weights_that_are_no_numbers_stay_in_their_output) {
  if (!has_products()) GTEST_SKIP() << "no such products here";
  Random random(9);
  WinogradConvolution c = one_tile(40);
  for (const bool bytes : {false, true}) {
    c.tile = bytes ? 2 : 4;
    c.source = bytes ? StoredNumber::u8 : StoredNumber::bf16;
    c.result = c.added = bytes ? StoredNumber::f32 : StoredNumber::bf16;
    Sample sample(c, random);
    sample.weights[(3 * 40 + 7) * 9] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> found = computed(c, fitted(c, sample));
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(std::isnan(found[i]), i % 16 == 3) << bytes << " at " << i;
  }
}

/// A convolution of which neither all tiles nor the products of all outputs are computed at once.
WinogradConvolution large_convolution(std::size_t tile) {
  WinogradConvolution c;
  c.images = 2;
  c.channels = 32;
  c.outputs = 170;
  c.height = {60, 60, 3, 1, 1, 1};
  c.width = {75, 75, 3, 1, 1, 1};
  c.tile = tile;
  c.lanes = vector_lanes();
  return c;
}

void expect_parts(const WinogradConvolution& c) {
  const WinogradTiles tiles(c);
  EXPECT_GT(tiles.count, 2 * tiles.block) << describe(c);
  EXPECT_GT(tiles.outputs, tiles.together) << describe(c);
}

TEST(Winograd, takes_many_tiles_and_outputs_in_parts) {
  Random random(2);
  for (const std::size_t tile : {2u, 4u}) {
    const WinogradConvolution c = large_convolution(tile);
    expect_parts(c);
    EXPECT_LT(error_of(c, Sample(c, random)), 2e-5) << describe(c);
  }
}

/// One copy of them serves a frame and several, and images of any size.
TEST(Winograd, weights_of_one_form_are_the_same_whatever_the_images_are) {
  Random random(10);
  for (const std::size_t tile : {2u, 4u})
    for (const StoredNumber number :
         {StoredNumber::f32, StoredNumber::bf16, StoredNumber::f16, StoredNumber::u8}) {
      WinogradConvolution c;
      c.tile = tile;
      c.source = number;
      c.channels = 40;
      c.outputs = 170;
      const std::vector<float> weights = random_values(c.channels * c.outputs * 9, random);
      std::vector<std::vector<std::byte>> packed;
      for (const std::size_t size : {7u, 14u, 90u}) {
        c.images = size == 14 ? 8 : 1;
        c.height = c.width = {size, size, 3, 1, 1, 1};
        packed.push_back(packed_bytes(
            packed_size(c), [&](std::span<std::byte> to) { pack_weights(c, weights, to); }));
        EXPECT_EQ(packed.back(), packed.front()) << describe(c);
      }
    }
}

TEST(Winograd, takes_many_integers_in_parts) {
  if (!has_products()) GTEST_SKIP() << "no such products here";
  Random random(5);
  for (const std::size_t tile : {2u, 2u, 2u, 4u, 4u, 4u}) {
    const WinogradConvolution c = with_integers(large_convolution(tile), random);
    expect_parts(c);
    EXPECT_LT(error_of(c, Sample(c, random)), has_bytes(c) ? 5. / 256 : 1. / 256) << describe(c);
  }
}

TEST(Winograd, what_is_no_number_stays_in_its_tiles_and_is_never_activated_away) {
  Random random(3);
  WinogradConvolution c;
  c.channels = 16;
  c.outputs = 8;
  c.height = c.width = {12, 12, 3, 1, 1, 1};
  c.lanes = vector_lanes();
  c.activation.low = 0;
  Sample sample(c, random);
  sample.source[(5 * 12 + 5) * 16 + 7] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> found = computed(c, sample);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t x = i / 8 % 12, y = i / 8 / 12;
    const bool reads_it = y + 1 >= 5 && y <= 6 && x + 1 >= 5 && x <= 6;
    const bool shares_a_tile = y / 4 == 1 && x / 4 == 1;
    if (reads_it || !shares_a_tile) {
      EXPECT_EQ(std::isnan(found[i]), reads_it) << y << ' ' << x;
    }
  }
}

}  // namespace
}  // namespace millrace::kernels
