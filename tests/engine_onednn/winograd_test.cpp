// Winograd convolutions against the definition.
#include "engine/onednn/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.h"
#include "engine/onednn/bfloat16.h"
#include "engine/onednn/ways.h"
#include "engine/onednn/winograd_points.h"
#include "network/tensor.h"

namespace millrace::engine::onednn {
namespace {

std::vector<float> random_values(std::size_t count, Random& random) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
  return values;
}

struct Sample {
  std::vector<float> source, weights, bias, before;

  Sample(const WinogradConvolution& c, Random& random)
      : source(random_values(c.images * c.height.input * c.width.input * c.channels, random)),
        weights(random_values(c.outputs * c.channels * 9, random)),
        bias(random_values(c.outputs, random)),
        before(random_values(c.images * c.height.output * c.width.output * c.outputs, random)) {}
};

double sum_at(const WinogradConvolution& c, const Sample& sample, std::size_t pixel,
              std::size_t output) {
  const std::size_t x = pixel % c.width.output, y = pixel / c.width.output % c.height.output;
  const std::size_t image = pixel / c.width.output / c.height.output;
  double sum = 0;
  for (std::size_t tap = 0; tap < 9; ++tap) {
    const std::size_t iy = y + tap / 3 - c.height.pad, ix = x + tap % 3 - c.width.pad;
    if (iy >= c.height.input || ix >= c.width.input) continue;  // also below zero
    const std::size_t at = ((image * c.height.input + iy) * c.width.input + ix) * c.channels;
    for (std::size_t i = 0; i < c.channels; ++i)
      sum += static_cast<double>(sample.source[at + i]) *
             static_cast<double>(sample.weights[(output * c.channels + i) * 9 + tap]);
  }
  return sum;
}

/// What a number becomes when it is stored and read again.
float as_stored(StoredNumber number, float x) {
  if (number == StoredNumber::f32) return x;
  if (number == StoredNumber::bf16) return from_bfloat16(to_bfloat16(x));
  const bool is_signed = number == StoredNumber::s8;
  return std::clamp(std::nearbyint(x), is_signed ? -128.f : 0.f, is_signed ? 127.f : 255.f);
}

std::vector<std::byte> stored(StoredNumber number, const std::vector<float>& values) {
  std::vector<std::byte> result(values.size() * size_of(number));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::byte* const to = result.data() + i * size_of(number);
    const std::uint16_t word = to_bfloat16(values[i]);
    if (number == StoredNumber::f32)
      std::memcpy(to, &values[i], sizeof(float));
    else if (number == StoredNumber::bf16)
      std::memcpy(to, &word, sizeof word);
    else
      *to = static_cast<std::byte>(static_cast<int>(values[i]));
  }
  return result;
}

float number_at(StoredNumber number, const std::vector<std::byte>& bytes, std::size_t index) {
  const std::byte* const at = bytes.data() + index * size_of(number);
  float x = 0;
  std::uint16_t word = 0;
  if (number == StoredNumber::f32) std::memcpy(&x, at, sizeof x);
  if (number == StoredNumber::bf16) {
    std::memcpy(&word, at, sizeof word);
    x = from_bfloat16(word);
  }
  if (number == StoredNumber::u8) x = static_cast<float>(static_cast<std::uint8_t>(*at));
  if (number == StoredNumber::s8) x = static_cast<float>(static_cast<std::int8_t>(*at));
  return x;
}

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
  std::vector<float> results;
  for (std::size_t i = 0; i < sample.before.size(); ++i)
    results.push_back(number_at(c.result, result, i));
  return results;
}

/// What a stored result may be off by its own rounding.
double rounding_of(StoredNumber number, double y) {
  if (number == StoredNumber::f32) return 0;
  return number == StoredNumber::bf16 ? std::abs(y) / 256 : 0.5;
}

/// Beyond that, in shares of the largest result before the activation.
double error_of(const WinogradConvolution& c, const Sample& given) {
  const Sample sample = fitted(c, given);
  const std::vector<float> found = computed(c, sample);
  double largest = 1e-9, worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    double y = double{scale_of(c)} * sum_at(c, sample, i / c.outputs, i % c.outputs);
    y += double{sample.bias[i % c.outputs]};
    if (c.adds) y += double{c.added_scale} * double{sample.before[i]};
    largest = std::max(largest, std::abs(y));
    if (y < 0) y *= double{c.activation.slope};
    y = std::clamp(y, double{c.activation.low}, double{c.activation.high});
    if (c.result == StoredNumber::u8) y = std::clamp(y, 0., 255.);
    if (c.result == StoredNumber::s8) y = std::clamp(y, -128., 127.);
    worst = std::max(worst, std::abs(y - double{found[i]}) - rounding_of(c.result, y));
  }
  return worst / largest;
}

WindowAxis random_axis(Random& random) {
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
  c.height = random_axis(random);
  c.width = random_axis(random);
  c.tile = random.below(2) == 0 ? 2 : 4;
  do {
    c.lanes = std::size_t{4} << random.below(3);
  } while (c.lanes > vector_lanes());
  c.adds = random.below(2) == 0;
  if (random.below(3) == 0) c.activation.slope = 0.1f;
  if (random.below(3) == 0) c.activation = {1, 0, random.below(2) == 0 ? 1.f : 1e9f};
  return c;
}

std::string describe(const WinogradConvolution& c) {
  const auto axis = [](const WindowAxis& a) {
    return std::to_string(a.input) + "->" + std::to_string(a.output) + " pad " +
           std::to_string(a.pad) + ", ";
  };
  return std::to_string(c.images) + " x " + axis(c.height) + axis(c.width) +
         std::to_string(c.channels) + "->" + std::to_string(c.outputs) + " tile " +
         std::to_string(c.tile) + " lanes " + std::to_string(c.lanes) + (c.adds ? " adds" : "");
}

TEST(Winograd, is_what_the_definition_says) {
  Random random(1);
  for (int i = 0; i < 150; ++i) {
    const WinogradConvolution c = random_convolution(random);
    EXPECT_LT(error_of(c, Sample(c, random)), c.tile == 4 ? 2e-5 : 4e-6) << describe(c);
  }
}

WinogradConvolution with_integers(WinogradConvolution c, Random& random) {
  c.lanes = 16;
  const bool in_8_bits = random.below(2) == 0;
  const auto sign = [&] { return random.below(2) == 0 ? StoredNumber::u8 : StoredNumber::s8; };
  c.source = in_8_bits ? sign() : StoredNumber::bf16;
  c.result = in_8_bits ? random.below(2) == 0 ? sign() : StoredNumber::f32 : StoredNumber::bf16;
  const bool is_byte = size_of(c.result) == 1;
  c.added = is_byte ? sign() : c.result;
  if (is_byte) c.added_scale = 0.5f;
  return c;
}

TEST(Winograd, integers_err_by_less_than_a_rounding_to_bfloat16) {
  if (!has_pair_products() || !has_bfloat16()) GTEST_SKIP() << "no such products here";
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    const WinogradConvolution c = with_integers(random_convolution(random), random);
    EXPECT_LT(error_of(c, Sample(c, random)), 1. / 256) << describe(c);
  }
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
  if (!has_pair_products() || !has_bfloat16()) GTEST_SKIP() << "no such products here";
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
  if (!has_pair_products() || !has_bfloat16()) GTEST_SKIP() << "no such products here";
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

TEST(Winograd, takes_many_tiles_in_blocks) {
  Random random(2);
  for (const std::size_t tile : {2u, 4u}) {
    WinogradConvolution c;
    c.images = 2;
    c.channels = 32;
    c.outputs = 24;
    c.height = {60, 60, 3, 1, 1, 1};
    c.width = {75, 75, 3, 1, 1, 1};
    c.tile = tile;
    c.lanes = vector_lanes();
    const WinogradTiles tiles(c);
    ASSERT_GT(tiles.count, 2 * tiles.block);
    EXPECT_LT(error_of(c, Sample(c, random)), 2e-5) << describe(c);
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
}  // namespace millrace::engine::onednn
