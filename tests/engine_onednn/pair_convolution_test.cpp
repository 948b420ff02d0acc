// Convolutions of 16-bit integers in pairs against the definition.
#include "engine/onednn/pair_convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/onednn/ways.h"
#include "network/tensor.h"
#include "own_samples.h"

namespace millrace::engine::onednn {
namespace {

using namespace test::onednn;  // NOLINT: the vocabulary of these tests

class PairConvolutions : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_pair_products() || !has_bfloat16()) GTEST_SKIP() << "no such products here";
  }
};

/// A window along both axes, of bfloat16 numbers.
PairConvolution convolution_of(std::size_t channels, std::size_t outputs, const WindowAxis& axis) {
  PairConvolution c;
  c.channels = channels;
  c.outputs = outputs;
  c.height = c.width = axis;
  c.source = c.result = c.added = StoredNumber::bf16;
  return c;
}

Sample fitted(const PairConvolution& c, Sample sample) {
  for (float& x : sample.source) x = as_stored(c.source, x);
  for (float& x : sample.before) x = as_stored(c.added, x);
  return sample;
}

std::vector<float> computed(const PairConvolution& c, const Sample& sample) {
  const auto bytes_of = [](std::size_t count) { return Bytes{static_cast<std::int64_t>(count)}; };
  const PairPanels panels(c);
  network::Buffer weights(bytes_of(packed_size(c))), working(bytes_of(panels.working));
  pack_weights(c, sample.weights, weights.bytes());
  // What was there before must not matter.
  std::fill_n(working.data(), panels.working, std::byte{0x7f});
  const std::vector<std::byte> source = stored(c.source, sample.source);
  std::vector<std::byte> result = stored(c.added, sample.before);
  convolve(c, panels,
           {source.data(), weights.data(), sample.bias.data(), working.data(), result.data()});
  std::vector<float> results;
  for (std::size_t i = 0; i < sample.before.size(); ++i)
    results.push_back(number_at(c.result, result, i));
  return results;
}

double error_of(const PairConvolution& c, const Sample& given) {
  const Sample sample = fitted(c, given);
  return test::onednn::error_of(c, sample, computed(c, sample));
}

/// A fourth of what the rounding of one result to bfloat16 is.
constexpr double bound = 1. / 1024;

TEST_F(PairConvolutions, are_what_the_definition_says) {
  constexpr std::size_t channels[] = {1, 3, 16, 21, 31, 32, 33, 64, 100, 300};
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    PairConvolution c =
        convolution_of(channels[random.below(10)], channels[random.below(9)], random_axis(random));
    c.images = 1 + random.below(3);
    c.width = random_axis(random);
    c.adds = random.below(2) == 0;
    if (random.below(3) == 0) c.activation.slope = 0.1f;
    if (random.below(3) == 0) c.activation = {1, 0, random.below(2) == 0 ? 1.f : 1e9f};
    EXPECT_LT(error_of(c, Sample(c, random)), bound) << describe(c);
  }
}

TEST_F(PairConvolutions, take_many_windows_in_panels) {
  Random random(2);
  const PairConvolution c = convolution_of(64, 40, {40, 40, 3, 1, 1, 1});
  const PairPanels panels(c);
  ASSERT_GT(panels.count, 2 * panels.panel);
  EXPECT_LT(error_of(c, Sample(c, random)), bound);
}

TEST_F(PairConvolutions, have_sums_that_do_not_overflow_whatever_the_pixels_are) {
  Random random(3);
  for (const std::size_t channels : {1u, 7u, 64u, 511u, 600u, 2000u})
    for (const float pixel : {1000.f, -1000.f}) {
      const PairConvolution c = convolution_of(channels, 24, {3, 3, 1, 1, 1, 0});
      Sample sample(c, random);
      for (float& x : sample.source) x = pixel;
      for (float& weight : sample.weights) weight = std::abs(weight);
      EXPECT_LT(error_of(c, sample), bound) << channels << " of " << pixel;
    }
}

TEST_F(PairConvolutions, take_any_pixels) {
  Random random(4);
  const PairConvolution c = convolution_of(40, 8, {5, 5, 3, 1, 1, 1});
  for (const float factor : {0.f, 1e-37f, 1e-29f, 1e30f}) {
    Sample sample(c, random);
    for (float& pixel : sample.source) pixel *= factor;
    EXPECT_LT(error_of(c, sample), bound) << factor;
  }
}

TEST_F(PairConvolutions, keep_what_is_no_number_in_its_windows) {
  Random random(5);
  PairConvolution c = convolution_of(32, 16, {6, 6, 3, 1, 1, 1});
  c.activation.low = 0;
  for (const float odd :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 3e38f}) {
    Sample sample(c, random);
    sample.source[(2 * 6 + 3) * 32 + 7] = odd;
    const std::vector<float> found = computed(c, fitted(c, sample));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::size_t x = i / 16 % 6, y = i / 16 / 6;
      const bool reads_it = y >= 1 && y <= 3 && x >= 2 && x <= 4;
      EXPECT_EQ(std::isnan(found[i]), reads_it) << odd << " at " << y << ' ' << x;
    }
  }
}

TEST_F(PairConvolutions, keep_weights_that_are_no_numbers_in_their_output) {
  Random random(6);
  const PairConvolution c = convolution_of(40, 20, {5, 5, 1, 1, 1, 0});
  for (const float odd :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Sample sample(c, random);
    sample.weights[3 * 40 + 7] = odd;
    const std::vector<float> found = computed(c, fitted(c, sample));
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(std::isnan(found[i]), i % 20 == 3) << odd << " at " << i;
  }
}

}  // namespace
}  // namespace millrace::engine::onednn
