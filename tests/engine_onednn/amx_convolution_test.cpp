// Convolutions on tile registers against the definition.
#include "engine/onednn/amx_convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "engine/onednn/amx_strip.h"
#include "engine/onednn/bfloat16.h"
#include "engine/onednn/ways.h"
#include "network/tensor.h"

namespace millrace::engine::onednn {
namespace {

std::vector<float> random_values(std::size_t count, Random& random) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
  return values;
}

float rounded(float x) { return from_bfloat16(to_bfloat16(x)); }

bool is_int8(const AmxConvolution& c) { return c.factors == AmxFactors::int8; }

/// As it would be stored: a number of that kind.
float stored_as(StoredNumber number, float x) {
  if (number == StoredNumber::f32) return x;
  if (number == StoredNumber::bf16) return rounded(x);
  const float low = number == StoredNumber::u8 ? 0.f : -128.f;
  return std::clamp(std::nearbyint(x), low, low + 255);
}

/// What the convolution reads and adds to, all of it as numbers that it can have.
struct Sample {
  std::vector<float> source, weights, bias, scales, before;

  Sample(const AmxConvolution& c, Random& random)
      : source(random_values(c.images * c.height.input * c.width.input * c.channels, random)),
        weights(random_values(c.outputs * c.channels * c.height.window * c.width.window, random)),
        bias(random_values(c.outputs, random)),
        before(random_values(c.images * c.height.output * c.width.output * c.outputs, random)) {
    for (float& x : source) x = stored_as(c.source, is_int8(c) ? 200 * x : x);
    for (float& x : before) x = stored_as(c.added, is_int8(c) ? 200 * x : x);
    if (c.factors == AmxFactors::bf16)
      for (std::vector<float>* values : {&source, &weights})
        for (float& x : *values) x = rounded(x);
    if (!is_int8(c)) return;
    for (float& x : weights) x = std::nearbyint(127 * x);
    const auto products = static_cast<float>(c.channels * c.height.window * c.width.window);
    for (const float x : bias) scales.push_back((0.01f + 0.002f * x) / std::sqrt(products));
  }
};

double sum_at(const AmxConvolution& c, const Sample& sample, std::size_t pixel,
              std::size_t output) {
  const std::size_t x = pixel % c.width.output, y = pixel / c.width.output % c.height.output;
  const std::size_t image = pixel / c.width.output / c.height.output;
  double sum = 0;
  for (std::size_t tap = 0; tap < c.height.window * c.width.window; ++tap) {
    const std::size_t row = tap / c.width.window, column = tap % c.width.window;
    const std::size_t iy = y * c.height.stride + row * c.height.dilation - c.height.pad;
    const std::size_t ix = x * c.width.stride + column * c.width.dilation - c.width.pad;
    if (iy >= c.height.input || ix >= c.width.input) continue;  // also below zero
    for (std::size_t i = 0; i < c.channels; ++i)
      sum +=
          static_cast<double>(
              sample
                  .source[((image * c.height.input + iy) * c.width.input + ix) * c.channels + i]) *
          static_cast<double>(
              sample.weights[(output * c.channels + i) * c.height.window * c.width.window + tap]);
  }
  return sum;
}

std::vector<double> expected(const AmxConvolution& c, const Sample& sample) {
  std::vector<double> result;
  for (std::size_t i = 0; i < sample.before.size(); ++i) {
    const std::size_t output = i % c.outputs;
    double y = sum_at(c, sample, i / c.outputs, output);
    if (is_int8(c)) y *= static_cast<double>(sample.scales[output]);
    y += static_cast<double>(sample.bias[output]);
    if (c.adds) y += static_cast<double>(c.added_scale * sample.before[i]);
    if (y < 0) y *= static_cast<double>(c.activation.slope);
    result.push_back(std::clamp(y, static_cast<double>(c.activation.low),
                                static_cast<double>(c.activation.high)));
  }
  return result;
}

void write(float x, StoredNumber number, std::size_t i, network::Buffer& buffer) {
  if (number == StoredNumber::f32)
    reinterpret_cast<float*>(buffer.data())[i] = x;
  else if (number == StoredNumber::bf16)
    reinterpret_cast<std::uint16_t*>(buffer.data())[i] = to_bfloat16(x);
  else
    buffer.data()[i] = static_cast<std::byte>(static_cast<int>(x));
}

float read(StoredNumber number, std::size_t i, const network::Buffer& buffer) {
  if (number == StoredNumber::f32) return reinterpret_cast<const float*>(buffer.data())[i];
  if (number == StoredNumber::bf16)
    return from_bfloat16(reinterpret_cast<const std::uint16_t*>(buffer.data())[i]);
  if (number == StoredNumber::u8)
    return static_cast<float>(static_cast<std::uint8_t>(buffer.data()[i]));
  return static_cast<float>(static_cast<std::int8_t>(buffer.data()[i]));
}

network::Buffer stored(const std::vector<float>& values, StoredNumber number) {
  network::Buffer buffer(Bytes{static_cast<std::int64_t>(values.size() * sizeof(float))});
  for (std::size_t i = 0; i < values.size(); ++i) write(values[i], number, i, buffer);
  return buffer;
}

std::vector<float> computed(const AmxConvolution& c, const Sample& sample) {
  network::Buffer weights(Bytes{static_cast<std::int64_t>(packed_size(c))});
  const std::vector<float> ones(is_int8(c) ? c.outputs : 0, 1.f);
  pack_weights(c, sample.weights, ones, weights.bytes());
  network::Buffer working(Bytes{static_cast<std::int64_t>(working_size(c))});
  const network::Buffer source = stored(sample.source, c.source);
  network::Buffer result = stored(sample.before, c.added);
  AmxOperands operands;
  operands.source = source.data();
  operands.weights = weights.data();
  operands.bias = sample.bias.data();
  operands.scales = is_int8(c) ? sample.scales.data() : nullptr;
  operands.working = working.data();
  operands.result = result.data();
  convolve(c, AmxStrips(c), operands);
  std::vector<float> values;
  for (std::size_t i = 0; i < sample.before.size(); ++i)
    values.push_back(read(c.result, i, result));
  return values;
}

/// In shares of the largest before the activation.
double error_of(const AmxConvolution& c, Random& random) {
  const Sample sample(c, random);
  std::vector<double> wanted = expected(c, sample);
  if (c.result == StoredNumber::u8 || c.result == StoredNumber::s8)
    for (double& x : wanted) x = static_cast<double>(stored_as(c.result, static_cast<float>(x)));
  AmxConvolution linear = c;
  linear.activation = {};
  const std::vector<float> found = computed(c, sample);
  double largest = 1e-9, worst = 0;
  for (const double sum : expected(linear, sample)) largest = std::max(largest, std::abs(sum));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    worst = std::max(worst, std::abs(wanted[i] - static_cast<double>(found[i])));
  return worst / largest;
}

WindowAxis random_axis(Random& random) {
  WindowAxis axis;
  axis.window = 1 + random.below(5);
  axis.stride = 1 + random.below(3);
  axis.dilation = 1 + random.below(2);
  axis.pad = random.below(axis.window + 1);
  const std::size_t extent = (axis.window - 1) * axis.dilation + 1;
  axis.input = extent + random.below(20);
  axis.output = (axis.input + axis.pad + random.below(axis.window) - extent) / axis.stride + 1;
  return axis;
}

void set_numbers(AmxConvolution& c, Random& random) {
  c.factors = static_cast<AmxFactors>(random.below(3));
  if (c.factors == AmxFactors::bf16) {
    if (random.below(2) == 0) c.source = StoredNumber::bf16;
    if (random.below(2) == 0) c.result = c.added = StoredNumber::bf16;
  }
  if (!is_int8(c)) return;
  const auto eight_bits = [&] {
    return random.below(2) == 0 ? StoredNumber::u8 : StoredNumber::s8;
  };
  c.source = eight_bits();
  if (random.below(3) == 0) return;
  c.result = eight_bits();
  c.added = eight_bits();
  c.added_scale = 0.5f;
}

/// What one may be off, in shares of the largest sum.
double bound_of(const AmxConvolution& c) {
  if (c.result == StoredNumber::bf16) return 5e-3;
  if (c.result != StoredNumber::f32) return 2e-2;  // a step, where sums lie between two
  return c.factors == AmxFactors::split ? 2e-5 : 1e-5;
}

AmxConvolution random_convolution(Random& random) {
  constexpr std::size_t channels[] = {1, 3, 16, 24, 31, 32, 33, 64, 100};
  AmxConvolution c;
  c.images = 1 + random.below(2);
  c.channels = channels[random.below(9)];
  c.outputs = channels[random.below(9)];
  c.height = random_axis(random);
  c.width = random_axis(random);
  set_numbers(c, random);
  c.adds = random.below(2) == 0;
  if (random.below(3) == 0) c.activation.slope = 0.1f;
  if (random.below(3) == 0) c.activation = {1, 0, random.below(2) == 0 ? 1.f : 1e9f};
  return c;
}

std::string describe(const AmxConvolution& c) {
  const auto axis = [](const WindowAxis& a) {
    return std::to_string(a.input) + "->" + std::to_string(a.output) + " window " +
           std::to_string(a.window) + "/" + std::to_string(a.stride) + "/" +
           std::to_string(a.dilation) + " pad " + std::to_string(a.pad) + ", ";
  };
  return axis(c.height) + axis(c.width) + std::to_string(c.channels) + "->" +
         std::to_string(c.outputs) + " factors " + std::to_string(static_cast<int>(c.factors)) +
         (c.adds ? " adds" : "");
}

TEST(AmxConvolution, is_what_the_definition_says) {
  if (!has_amx()) GTEST_SKIP() << "this processor has no AMX for bfloat16";
  Random random(1);
  for (int i = 0; i < 180; ++i) {
    const AmxConvolution c = random_convolution(random);
    EXPECT_LT(error_of(c, random), bound_of(c)) << describe(c);
  }
}

TEST(AmxConvolution, takes_large_images_in_strips) {
  if (!has_amx()) GTEST_SKIP() << "this processor has no AMX for bfloat16";
  Random random(2);
  AmxConvolution c;
  c.channels = 64;
  c.outputs = 8;
  c.height = {75, 75, 3, 1, 1, 1};
  c.width = {80, 80, 3, 1, 1, 1};
  ASSERT_LT(working_size(c), 75u * 80 * 64 * 4) << "less than the whole image";
  EXPECT_LT(error_of(c, random), 2e-5);
}

TEST(AmxConvolution, what_is_no_number_stays_none) {
  if (!has_amx()) GTEST_SKIP() << "this processor has no AMX for bfloat16";
  Random random(3);
  AmxConvolution c;
  c.channels = 32;
  c.outputs = 16;
  c.height = c.width = {4, 4, 1, 1, 1, 0};
  c.activation.low = 0;
  Sample sample(c, random);
  sample.source[5 * 32 + 7] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> found = computed(c, sample);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(std::isnan(found[i]), i / 16 == 5) << i;
}

}  // namespace
}  // namespace millrace::engine::onednn
