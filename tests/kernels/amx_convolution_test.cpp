// Convolutions on tile registers against the definition.
#include "kernels/amx/amx_convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/amx/amx_strip.h"
#include "machine.h"
#include "network/tensor.h"
#include "own_samples.h"

namespace millrace::kernels {
namespace {

using namespace test::kernels;  // NOLINT: the vocabulary of these tests

bool is_int8(const AmxConvolution& c) { return c.factors == AmxFactors::int8; }

/// What the convolution reads and adds to, all of it as numbers that it can have.
struct AmxSample : Sample {
  std::vector<float> scales = {};

  AmxSample(const AmxConvolution& c, Random& random) : Sample(c, random) {
    for (float& x : source) x = as_stored(c.source, is_int8(c) ? 200 * x : x);
    for (float& x : before) x = as_stored(c.added, is_int8(c) ? 200 * x : x);
    if (c.factors == AmxFactors::bf16)
      for (std::vector<float>* values : {&source, &weights})
        for (float& x : *values) x = as_stored(StoredNumber::bf16, x);
    if (!is_int8(c)) return;
    for (float& x : weights) x = std::nearbyint(127 * x);
    const auto products = static_cast<float>(c.channels * c.height.window * c.width.window);
    for (const float x : bias) scales.push_back((0.01f + 0.002f * x) / std::sqrt(products));
  }
};

std::vector<double> expected(const AmxConvolution& c, const AmxSample& sample) {
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

std::vector<float> computed(const AmxConvolution& c, const AmxSample& sample) {
  network::Buffer weights(Bytes{static_cast<std::int64_t>(packed_size(c))});
  const std::vector<float> ones(is_int8(c) ? c.outputs : 0, 1.f);
  pack_weights(c, sample.weights, ones, weights.bytes());
  network::Buffer working(Bytes{static_cast<std::int64_t>(working_size(c))});
  const std::vector<std::byte> source = stored(c.source, sample.source);
  std::vector<std::byte> result = stored(c.added, sample.before);
  AmxOperands operands;
  operands.source = source.data();
  operands.weights = weights.data();
  operands.bias = sample.bias.data();
  operands.scales = is_int8(c) ? sample.scales.data() : nullptr;
  operands.working = working.data();
  operands.result = result.data();
  convolve(c, AmxStrips(c), operands);
  return numbers_of(c.result, result);
}

/// In shares of the largest before the activation.
double error_of(const AmxConvolution& c, Random& random) {
  const AmxSample sample(c, random);
  std::vector<double> wanted = expected(c, sample);
  if (c.result == StoredNumber::u8 || c.result == StoredNumber::s8)
    for (double& x : wanted) x = static_cast<double>(as_stored(c.result, static_cast<float>(x)));
  AmxConvolution linear = c;
  linear.activation = {};
  const std::vector<float> found = computed(c, sample);
  double largest = 1e-9, worst = 0;
  for (const double sum : expected(linear, sample)) largest = std::max(largest, std::abs(sum));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(found[i])) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, std::abs(wanted[i] - static_cast<double>(found[i])));
  }
  return worst / largest;
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
  constexpr std::size_t channels[] = {1, 3, 16, 24, 31, 32, 33, 64, 100, 256, 512};
  AmxConvolution c;
  c.images = 1 + random.below(2);
  c.channels = channels[random.below(11)];
  c.outputs = channels[random.below(11)];
  c.height = random_axis(random);
  c.width = random_axis(random);
  set_numbers(c, random);
  c.adds = random.below(2) == 0;
  if (random.below(3) == 0) c.activation.slope = 0.1f;
  if (random.below(3) == 0) c.activation = {1, 0, random.below(2) == 0 ? 1.f : 1e9f};
  return c;
}

std::string describe(const AmxConvolution& c) {
  return test::kernels::describe(c) + " factors " + std::to_string(static_cast<int>(c.factors));
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
  AmxSample sample(c, random);
  sample.source[5 * 32 + 7] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> found = computed(c, sample);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(std::isnan(found[i]), i / 16 == 5) << i;
}

}  // namespace
}  // namespace millrace::kernels
