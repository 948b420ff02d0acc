// Convolutions of bytes by each unit that the processor has, against plain loops over integers.
#include "kernels/quads/quad_convolution.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "stored_numbers.h"

namespace millrace::kernels {
namespace {

using namespace test::kernels;  // NOLINT: the vocabulary of these tests

std::int32_t below(Random& random, std::size_t most) {
  return static_cast<std::int32_t>(random.below(most));
}

/// Where numbers lie: all over, or at the ends of what bytes are, where intermediate sums of less
/// than 32 bits would overflow.
enum class Spread { all, ends, most, least };

std::int32_t integer_in(std::int32_t low, std::int32_t high, Spread spread, Random& random) {
  switch (spread) {
    case Spread::all:
      return low + below(random, static_cast<std::size_t>(high - low + 1));
    case Spread::ends:
      return random.below(2) == 0 ? low : high;
    case Spread::most:
      return high;
    case Spread::least:
      break;
  }
  return low;
}

struct Integers {
  std::vector<std::int32_t> source, weights;

  Integers(const QuadConvolution& c, Random& random) {
    constexpr Spread spreads[]{Spread::all, Spread::all, Spread::ends, Spread::most, Spread::least};
    const Spread of_source = spreads[random.below(5)], of_weights = spreads[random.below(5)];
    const bool is_signed = c.source == StoredNumber::s8;
    source.resize(c.images * c.depth.input * c.height.input * c.width.input * c.channels);
    for (auto& x : source)
      x = integer_in(is_signed ? -128 : 0, is_signed ? 127 : 255, of_source, random);
    weights.resize(c.outputs * c.channels_of_group() * c.taps());
    for (auto& x : weights) x = integer_in(-127, 127, of_weights, random);
  }
};

std::size_t place_on(const WindowAxis& axis, std::size_t output, std::size_t tap) {
  return output * axis.stride + tap * axis.dilation - axis.pad;
}

std::int32_t sum_of(const QuadConvolution& c, const Integers& n, std::size_t pixel,
                    std::size_t output) {
  const std::size_t x = pixel % c.width.output, rows = pixel / c.width.output;
  const std::size_t y = rows % c.height.output, planes = rows / c.height.output;
  const std::size_t z = planes % c.depth.output, image = planes / c.depth.output;
  const std::size_t channels = c.channels_of_group();
  std::int32_t sum = 0;
  for (std::size_t tap = 0; tap < c.taps(); ++tap) {
    const std::size_t row = tap / c.width.window;
    const std::size_t iz = place_on(c.depth, z, row / c.height.window);
    const std::size_t iy = place_on(c.height, y, row % c.height.window);
    const std::size_t ix = place_on(c.width, x, tap % c.width.window);
    if (iz >= c.depth.input || iy >= c.height.input || ix >= c.width.input) continue;
    const std::size_t place = ((image * c.depth.input + iz) * c.height.input + iy) * c.width.input;
    const std::size_t first = output / c.outputs_of_group() * channels;
    for (std::size_t i = 0; i < channels; ++i)
      sum += (n.source[(place + ix) * c.channels + first + i] - c.source_zero) *
             n.weights[(output * channels + i) * c.taps() + tap];
  }
  return sum;
}

struct Ends {
  std::vector<float> scales, bias, before;
};
/// With as many numbers behind the outputs' as may be read.
std::vector<float> padded(std::vector<float> numbers) {
  numbers.resize(numbers.size() + quad_padding);
  return numbers;
}

std::vector<std::byte> packed_of(const QuadConvolution& c, const Integers& n) {
  std::vector<std::byte> packed(packed_size(c), std::byte{0x55});
  pack_weights(c, std::vector<float>(n.weights.begin(), n.weights.end()), {}, packed);
  return packed;
}

std::vector<float> computed(const QuadConvolution& c, const Integers& n, const Ends& ends) {
  const std::vector<std::byte> weights = packed_of(c, n);
  const std::vector<std::byte> source =
      stored(c.source, std::vector<float>(n.source.begin(), n.source.end()));
  const std::vector<float> scales = padded(ends.scales), bias = padded(ends.bias);
  std::vector<std::byte> result = stored(c.added, ends.before);
  convolve(c, {source.data(), weights.data(), scales.data(), bias.data(), result.data()});
  return numbers_of(c.result, result);
}

WindowAxis random_axis_of(Random& random) {
  WindowAxis axis;
  axis.window = 1 + random.below(random.below(3) == 0 ? 6 : 3);
  axis.stride = 1 + random.below(3);
  axis.dilation = 1 + random.below(3);
  const std::size_t reach = (axis.window - 1) * axis.dilation + 1;
  axis.pad = random.below(reach + 1);
  if (random.below(8) == 0) axis.pad = std::size_t{0} - random.below(3);
  axis.input = reach + 3 + random.below(random.below(2) == 0 ? 24 : 4);
  const std::size_t behind = random.below(reach);
  axis.output = (axis.input + axis.pad + behind - reach) / axis.stride + 1;
  return axis;
}

QuadConvolution random_convolution_of(ByteUnit unit, Random& random) {
  QuadConvolution c;
  c.unit = unit;
  c.images = 1 + random.below(2);
  c.width = random_axis_of(random);
  if (random.below(4) != 0) c.height = random_axis_of(random);
  if (random.below(6) == 0) c.depth = random_axis_of(random);
  if (random.below(3) == 0)  // products of matrices
    c.width = {1 + random.below(70), 0, 1, 1, 1, 0}, c.height = c.depth = {};
  if (c.width.output == 0) c.width.output = c.width.input;
  constexpr std::size_t sizes[]{1, 2, 3, 4, 7, 8, 15, 16, 17, 24, 32, 33, 48, 64, 80};
  const auto any = [&](std::size_t most) { return sizes[random.below(most)]; };
  c.channels = any(13), c.outputs = any(15);
  if (random.below(3) == 0) c.groups = c.channels = c.outputs;
  if (random.below(5) == 0) {
    c.groups = 1 + random.below(4);
    c.channels = c.groups * any(9), c.outputs = c.groups * any(11);
  }
  c.source = random.below(2) == 0 ? StoredNumber::u8 : StoredNumber::s8;
  constexpr std::int32_t zeros[]{0, 255, 1, 128, 127, 77};
  c.source_zero = zeros[random.below(6)];
  if (c.source == StoredNumber::s8) c.source_zero = random.below(2) == 0 ? 0 : c.source_zero - 128;
  return c;
}

std::string text_of(const QuadConvolution& c) {
  const auto text = [](const WindowAxis& a) {
    return fmt::format("{}:{} window {} stride {} dilation {} pad {}", a.input, a.output, a.window,
                       a.stride, a.dilation, static_cast<std::ptrdiff_t>(a.pad));
  };
  return fmt::format("{}: {} images, {} to {} in {} groups, {} | {} | {}, zero {}, signed {}",
                     name_of(c.unit), c.images, c.channels, c.outputs, c.groups, text(c.depth),
                     text(c.height), text(c.width), c.source_zero, c.source == StoredNumber::s8);
}

class QuadConvolutions : public testing::Test {
 protected:
  void SetUp() override {
    if (byte_units().empty()) GTEST_SKIP() << "no such products here";
  }
};

/// As many results of a convolution as may differ: none.
std::size_t wrong_sums(const QuadConvolution& c, const Integers& n) {
  const std::size_t count = c.pixels() * c.outputs;
  const Ends ends{std::vector<float>(c.outputs, 1.f), std::vector<float>(c.outputs, 0.f),
                  std::vector<float>(count, 0.f)};
  const std::vector<float> found = computed(c, n, ends);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i)
    wrong += found[i] != static_cast<float>(sum_of(c, n, i / c.outputs, i % c.outputs));
  return wrong;
}

TEST_F(QuadConvolutions, have_the_sums_of_the_definition) {
  for (const ByteUnit unit : byte_units()) {
    Random random(1);
    for (int i = 0; i < 1000; ++i) {
      QuadConvolution c = random_convolution_of(unit, random);
      c.result = c.added = StoredNumber::f32;
      ASSERT_EQ(wrong_sums(c, Integers(c, random)), 0u) << text_of(c);
    }
  }
}

TEST_F(QuadConvolutions, have_the_sums_of_long_windows) {
  Random random(2);
  QuadConvolution c;
  c.outputs = 9;
  for (int i = 0; i < 12 * static_cast<int>(byte_units().size()); ++i) {
    constexpr std::size_t channels[]{500, 4608, 65'536};
    c.unit = byte_units()[static_cast<std::size_t>(i) / 12];
    c.source = i % 2 == 0 ? StoredNumber::u8 : StoredNumber::s8;
    c.channels = channels[i % 3];
    c.height.input = c.height.output = 1 + random.below(9);
    Integers n(c, random);
    if (i % 4 < 2) std::fill(n.source.begin(), n.source.end(), i % 2 == 0 ? 255 : -128);
    if (i % 4 < 2) std::fill(n.weights.begin(), n.weights.end(), 127);
    EXPECT_EQ(wrong_sums(c, n), 0u) << text_of(c);
  }
}

double finished_of(const QuadConvolution& c, double y, double before) {
  const double added = c.adds ? double{c.added_scale} * (before - double{c.added_zero}) : 0;
  const Activation& a = c.activation;
  if (!c.adds_last) y += added;
  if (a.swish)
    y *= double{a.unit} / (1 + std::exp(-y));
  else if (a.hard_swish)
    y *= double{a.unit} * std::clamp(y / 6 + 0.5, 0., 1.);
  else
    y = std::clamp(y < 0 ? y * double{a.slope} : y, double{a.low}, double{a.high});
  if (c.adds_last) y += added;
  y += double{c.result_zero};
  if (c.result == StoredNumber::u8) y = std::clamp(y, 0., 255.);
  if (c.result == StoredNumber::s8) y = std::clamp(y, -128., 127.);
  return y;
}

/// All that may follow the sums.
QuadConvolution with_any_end(QuadConvolution c, Random& random) {
  constexpr StoredNumber numbers[]{StoredNumber::u8, StoredNumber::s8, StoredNumber::f32};
  c.result = c.added = numbers[random.below(3)];
  const bool is_byte = size_of(c.result) == 1;
  if (is_byte && random.below(3) == 0) c.added = numbers[random.below(2)];
  c.adds = random.below(2) == 0;
  c.adds_last = c.adds && random.below(2) == 0;
  c.added_scale = is_byte ? 0.75f : 1.f;
  const auto any_zero = [&](StoredNumber number) {
    const auto zero = static_cast<float>(random.below(256));
    return number == StoredNumber::f32 ? 0.f : number == StoredNumber::u8 ? zero : zero - 128;
  };
  c.result_zero = any_zero(c.result);
  c.added_zero = any_zero(c.added);
  if (random.below(3) == 0) c.activation.slope = 0.1f;
  if (random.below(3) == 0) c.activation.low = 0;
  if (random.below(3) == 0) c.activation.high = is_byte ? 60.f : 0.5f;
  if (random.below(6) == 0) {
    c.activation = {};
    (random.below(2) == 0 ? c.activation.swish : c.activation.hard_swish) = true;
    c.activation.unit = is_byte ? 20.f : 1.f;
  }
  return c;
}

Ends random_ends(const QuadConvolution& c, Random& random) {
  Ends ends{std::vector<float>(c.outputs), std::vector<float>(c.outputs),
            std::vector<float>(c.pixels() * c.outputs)};
  const double unit = c.activation.is_curve() || size_of(c.result) > 1 ? 1 : 50;
  const double sums = 5000 * std::sqrt(static_cast<double>(c.channels_of_group() * c.taps()));
  const double most = size_of(c.added) == 1 ? 128 : 1;
  for (float& x : ends.scales) x = static_cast<float>(random.uniform(0.5, 1) * unit / sums);
  for (float& x : ends.bias) x = static_cast<float>(random.uniform(-1, 1) * unit);
  for (float& x : ends.before)
    x = as_stored(c.added, static_cast<float>(random.uniform(-1, 1) * most));
  return ends;
}

/// Beyond its own rounding, in results of size 1 or larger, and beside a float32 number's.
double largest_error(const QuadConvolution& c, const Integers& n, const Ends& ends) {
  const std::vector<float> found = computed(c, n, ends);
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t output = i % c.outputs;
    const double y = sum_of(c, n, i / c.outputs, output) * double{ends.scales[output]};
    const double wanted = finished_of(c, y + double{ends.bias[output]}, double{ends.before[i]});
    const double error = std::abs(double{found[i]} - wanted) - rounding_of(c.result, wanted);
    largest = std::max(largest, error / std::max(10., std::abs(wanted)));
  }
  return largest;
}

TEST_F(QuadConvolutions, end_as_the_definition_says) {
  for (const ByteUnit unit : byte_units()) {
    Random random(3);
    for (int i = 0; i < 300; ++i) {
      const QuadConvolution c = with_any_end(random_convolution_of(unit, random), random);
      const Integers n(c, random);
      ASSERT_LT(largest_error(c, n, random_ends(c, random)), 1e-5) << text_of(c);
    }
  }
}

/// One convolution for each unit.
std::vector<QuadConvolution> for_all_units(QuadConvolution c) {
  std::vector<QuadConvolution> all;
  for (const ByteUnit unit : byte_units()) {
    c.unit = unit;
    all.push_back(c);
  }
  return all;
}

TEST_F(QuadConvolutions, have_results_at_the_ends_of_their_range) {
  Random random(4);
  QuadConvolution model;
  model.channels = 4, model.outputs = 21, model.width = {5, 5, 1, 1, 1, 0};
  model.source = StoredNumber::u8;
  const Integers n(model, random);
  const std::vector<float> zeros(model.pixels() * model.outputs), ones(model.outputs, 1.f);
  for (QuadConvolution c : for_all_units(model))
    for (const float bias : {1e30f, -1e30f, std::numeric_limits<float>::infinity()}) {
      const Ends ends{ones, std::vector<float>(c.outputs, bias), zeros};
      c.result = c.added = StoredNumber::u8;
      EXPECT_EQ(computed(c, n, ends), std::vector<float>(zeros.size(), bias > 0 ? 255.f : 0.f));
      c.result = c.added = StoredNumber::s8;
      EXPECT_EQ(computed(c, n, ends), std::vector<float>(zeros.size(), bias > 0 ? 127.f : -128.f));
    }
}

TEST_F(QuadConvolutions, of_one_form_have_the_same_weights) {
  Random random(5);
  QuadConvolution model;
  model.channels = 3, model.outputs = 20, model.width = {20, 20, 3, 1, 1, 1};
  const Integers n(model, random);
  std::map<std::string, std::vector<std::byte>> packed;
  for (QuadConvolution c : for_all_units(model))
    for (int i = 0; i < 8; ++i) {
      c.source = i % 2 == 0 ? StoredNumber::u8 : StoredNumber::s8;
      c.source_zero = i / 2 % 2 == 0 ? 0 : 7;
      c.width.output = i < 4 ? 4 : 20;
      const auto [place, is_new] = packed.emplace(form_of_weights(c), packed_of(c, n));
      EXPECT_EQ(packed_of(c, n), place->second) << text_of(c);
    }
  EXPECT_EQ(packed.size(), 4 * byte_units().size());
}

}  // namespace
}  // namespace millrace::kernels
