// Direct convolutions of integers against the definition.
#include "kernels/integer/integer_convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "machine.h"
#include "network/tensor.h"
#include "own_samples.h"

namespace millrace::kernels {
namespace {

using namespace test::kernels;  // NOLINT: the vocabulary of these tests

/// Convolutions of numbers of 8 bits.
class ByteConvolutions : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_integer_products()) GTEST_SKIP() << "no such products here";
  }
};

class IntegerConvolutions : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_integer_products() || !has_bfloat16()) GTEST_SKIP() << "no such products here";
  }
};

/// A window along both axes, of bfloat16 numbers.
IntegerConvolution convolution_of(std::size_t channels, std::size_t outputs,
                                  const WindowAxis& axis) {
  IntegerConvolution c;
  c.channels = channels;
  c.outputs = outputs;
  c.height = c.width = axis;
  c.source = c.result = c.added = StoredNumber::bf16;
  return c;
}

bool has_bytes(const IntegerConvolution& c) { return size_of(c.source) == 1; }

/// Numbers as such a convolution stores them; those of 8 bits are integers, also the weights.
Sample fitted(const IntegerConvolution& c, Sample sample) {
  const auto fit = [](StoredNumber number, float x) {
    return as_stored(number, size_of(number) > 1          ? x
                             : number == StoredNumber::u8 ? 255 * x * x
                                                          : 128 * x);
  };
  for (float& x : sample.source) x = fit(c.source, x);
  for (float& x : sample.before) x = fit(c.added, x);
  if (has_bytes(c))
    for (float& x : sample.weights) x = std::nearbyint(127 * x);
  return sample;
}

/// What sums of 8-bit integers are multiplied with: so that results use their range.
double scale_of(const IntegerConvolution& c) {
  const std::size_t numbers = c.channels * c.height.window * c.width.window;
  return has_bytes(c) ? 1 / (64 * std::sqrt(static_cast<double>(numbers))) : 1;
}

std::vector<float> computed(const IntegerConvolution& c, const Sample& sample) {
  const auto bytes_of = [](std::size_t count) { return Bytes{static_cast<std::int64_t>(count)}; };
  const IntegerPanels panels(c);
  network::Buffer weights(bytes_of(packed_size(c))), working(bytes_of(panels.working));
  pack_weights(c, sample.weights, {}, weights.bytes());
  // What was there before must not matter.
  std::fill_n(working.data(), panels.working, std::byte{0x7f});
  const std::vector<std::byte> source = stored(c.source, sample.source);
  const std::vector<float> scales(c.outputs, static_cast<float>(scale_of(c)));
  std::vector<std::byte> result = stored(c.added, sample.before);
  convolve(c, panels,
           {source.data(), weights.data(), sample.bias.data(), scales.data(), working.data(),
            result.data()});
  return numbers_of(c.result, result);
}

double error_of(const IntegerConvolution& c, const Sample& given) {
  const Sample sample = fitted(c, given);
  return test::kernels::error_of(c, sample, computed(c, sample), scale_of(c));
}

/// A fourth of what the rounding of one result to bfloat16 is.
constexpr double bound = 1. / 1024;

IntegerConvolution any_convolution(Random& random) {
  constexpr std::size_t channels[] = {1, 3, 16, 21, 31, 32, 33, 64, 100, 300};
  IntegerConvolution c =
      convolution_of(channels[random.below(10)], channels[random.below(9)], random_axis(random));
  c.images = 1 + random.below(3);
  c.width = random_axis(random);
  c.adds = random.below(2) == 0;
  if (random.below(3) == 0) c.activation.slope = 0.1f;
  if (random.below(3) == 0) c.activation = {1, 0, random.below(2) == 0 ? 1.f : 1e9f};
  if (random.below(2) == 0) c.source = c.result = c.added = StoredNumber::f16;
  return c;
}

TEST_F(IntegerConvolutions, are_what_the_definition_says) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const IntegerConvolution c = any_convolution(random);
    EXPECT_LT(error_of(c, Sample(c, random)), bound) << describe(c);
  }
}

/// Rounded once, to the result.
TEST_F(ByteConvolutions, are_exact) {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    const IntegerConvolution c = with_bytes(any_convolution(random), random);
    EXPECT_LT(error_of(c, Sample(c, random)), 1e-6) << describe(c);
  }
}

/// With integers other than 0 that stand for 0, of all that it reads and writes in 8 bits.
IntegerConvolution with_zeros(IntegerConvolution c, Random& random) {
  const auto any = [&] { return static_cast<float>(random.below(200)); };
  if (c.source == StoredNumber::u8)
    c.source_zero = 1 + static_cast<std::int32_t>(random.below(255));
  if (c.result == StoredNumber::u8) c.result_zero = any();
  if (c.added == StoredNumber::u8) c.added_zero = any();
  return c;
}

TEST_F(ByteConvolutions, are_exact_whatever_integer_stands_for_0) {
  Random random(13);
  for (int i = 0; i < 300; ++i) {
    const IntegerConvolution c = with_zeros(with_bytes(any_convolution(random), random), random);
    EXPECT_LT(error_of(c, Sample(c, random)), 1e-6) << describe(c) << " zero " << c.source_zero;
  }
}

/// Beside the swish the sums are in real units.
TEST_F(ByteConvolutions, apply_a_swish_before_and_after_what_they_add) {
  Random random(14);
  for (int i = 0; i < 200; ++i) {
    IntegerConvolution c = with_zeros(with_bytes(any_convolution(random), random), random);
    c.activation = {};
    c.activation.swish = true;
    c.activation.unit = size_of(c.result) == 1 ? 20.f : 1.f;
    c.adds_last = c.adds && random.below(2) == 0;
    if (c.adds && !c.adds_last) c.added_scale = 0.01f;
    EXPECT_LT(error_of(c, Sample(c, random)), 3e-6) << describe(c) << " last " << c.adds_last;
  }
}

TEST_F(IntegerConvolutions, apply_a_swish) {
  Random random(15);
  for (int i = 0; i < 100; ++i) {
    IntegerConvolution c = any_convolution(random);
    c.activation = {};
    c.activation.swish = true;
    c.adds_last = c.adds && random.below(2) == 0;
    EXPECT_LT(error_of(c, Sample(c, random)), bound) << describe(c) << " last " << c.adds_last;
  }
}

TEST_F(ByteConvolutions, have_a_swish_of_any_sum) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  IntegerConvolution c = convolution_of(4, 16, {1, 1, 1, 1, 1, 0});
  c.source = StoredNumber::u8;
  c.result = c.added = StoredNumber::f32;
  c.activation.swish = true;
  Random random(16);
  Sample sample = fitted(c, Sample(c, random));
  std::fill(sample.weights.begin(), sample.weights.end(), 0.f);
  const std::vector<float> sums{0, 1, -1, 20, -20, 80, -80, 1e10f, -1e10f, infinity};
  std::copy(sums.begin(), sums.end(), sample.bias.begin());
  const std::vector<float> found = computed(c, sample);
  for (std::size_t i = 0; i + 1 < sums.size(); ++i) {
    const double x = double{sums[i]}, wanted = x / (1 + std::exp(-x));
    EXPECT_NEAR(double{found[i]}, wanted, 1e-6 * std::max(1., std::abs(wanted))) << sums[i];
  }
  EXPECT_EQ(found[9], infinity);
}

TEST_F(ByteConvolutions, have_sums_that_do_not_overflow) {
  for (const bool is_signed : {false, true}) {
    IntegerConvolution c = convolution_of(65'536, 2, {2, 2, 1, 1, 1, 0});
    c.source = is_signed ? StoredNumber::s8 : StoredNumber::u8;
    c.result = c.added = StoredNumber::f32;
    Random random(8);
    Sample sample(c, random);
    for (float& x : sample.source) x = is_signed ? -1.f : 1.f;
    for (float& weight : sample.weights) weight = 1;
    EXPECT_LT(error_of(c, sample), 1e-6) << is_signed;
  }
}

/// Rows of results are cut where the registers are full; their ends lie outside of the image.
TEST_F(IntegerConvolutions, share_windows_that_overlap) {
  Random random(9);
  for (const std::size_t width : {8u, 12u, 13u, 25u, 41u})
    for (const std::size_t channels : {1u, 3u, 20u})
      for (const std::size_t stride : {1u, 2u}) {
        const std::size_t output = (width - 1) / stride + 1;
        IntegerConvolution c = convolution_of(channels, 40, {width, output, 7, stride, 1, 3});
        EXPECT_EQ(IntegerPanels(c).overlap, output >= 6) << describe(c);
        EXPECT_LT(error_of(c, Sample(c, random)), bound) << describe(c);
        c = with_bytes(c, random);
        EXPECT_LT(error_of(c, Sample(c, random)), 1e-6) << describe(c);
      }
}

/// Convolutions with one form share their weights.
TEST_F(ByteConvolutions, of_one_form_have_the_same_weights) {
  Random random(11);
  const IntegerConvolution model = convolution_of(3, 20, {20, 20, 3, 1, 1, 1});
  const std::vector<float> weights =
      fitted(with_bytes(model, random), Sample(model, random)).weights;
  std::map<std::string, std::vector<std::byte>> packed;
  std::size_t count = 0;
  for (const StoredNumber number : {StoredNumber::u8, StoredNumber::s8, StoredNumber::bf16})
    for (const std::size_t dilation : {1u, 2u})
      for (const std::size_t output : {4u, 20u}) {
        IntegerConvolution c = model;
        c.source = number;
        c.width = {20, output, 3, 1, dilation, 1};
        const auto found = packed_bytes(
            packed_size(c), [&](std::span<std::byte> to) { pack_weights(c, weights, {}, to); });
        const auto [place, is_new] = packed.emplace(form_of_weights(c), found);
        EXPECT_EQ(found, place->second) << describe(c);
        count += is_new ? 0 : 1;
      }
  EXPECT_GT(count, 0u);
}

TEST_F(ByteConvolutions, have_results_at_the_ends_of_their_range) {
  Random random(12);
  for (const StoredNumber number : {StoredNumber::u8, StoredNumber::s8})
    for (const float bias : {1e30f, -1e30f}) {
      IntegerConvolution c = convolution_of(4, 16, {3, 3, 1, 1, 1, 0});
      c.source = StoredNumber::u8;
      c.result = c.added = number;
      Sample sample = fitted(c, Sample(c, random));
      std::fill(sample.bias.begin(), sample.bias.end(), bias);
      const float least = number == StoredNumber::u8 ? 0.f : -128.f;
      const float most = number == StoredNumber::u8 ? 255.f : 127.f;
      for (const float y : computed(c, sample)) EXPECT_EQ(y, bias > 0 ? most : least);
    }
}

TEST_F(IntegerConvolutions, take_many_windows_in_panels) {
  Random random(2);
  const IntegerConvolution c = convolution_of(64, 40, {60, 60, 3, 1, 1, 1});
  const IntegerConvolution alone = convolution_of(300, 40, {20, 20, 3, 1, 1, 1});
  for (const IntegerConvolution& each : {c, alone, with_bytes(c, random)}) {
    const IntegerPanels panels(each);
    EXPECT_GT(panels.count, 2 * panels.panel) << describe(each);
    EXPECT_EQ(panels.overlap, each.channels == 64) << describe(each);
    EXPECT_LT(error_of(each, Sample(each, random)), has_bytes(each) ? 1e-6 : bound)
        << describe(each);
  }
}

TEST_F(IntegerConvolutions, have_sums_that_do_not_overflow_whatever_the_pixels_are) {
  Random random(3);
  for (const std::size_t channels : {1u, 7u, 64u, 511u, 600u, 2000u})
    for (const float pixel : {1000.f, -1000.f}) {
      const IntegerConvolution c = convolution_of(channels, 24, {3, 3, 1, 1, 1, 0});
      Sample sample(c, random);
      for (float& x : sample.source) x = pixel;
      for (float& weight : sample.weights) weight = std::abs(weight);
      EXPECT_LT(error_of(c, sample), bound) << channels << " of " << pixel;
    }
}

TEST_F(IntegerConvolutions, take_any_pixels) {
  Random random(4);
  const IntegerConvolution c = convolution_of(40, 8, {5, 5, 3, 1, 1, 1});
  for (const float factor : {0.f, 1e-37f, 1e-29f, 1e30f}) {
    Sample sample(c, random);
    for (float& pixel : sample.source) pixel *= factor;
    EXPECT_LT(error_of(c, sample), bound) << factor;
  }
}

TEST_F(IntegerConvolutions, keep_what_is_no_number_in_its_windows_or_in_those_scaled_with_these) {
  Random random(5);
  for (const std::size_t channels : {32u, 300u})
    for (const float odd :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 3e38f}) {
      IntegerConvolution c = convolution_of(channels, 16, {6, 6, 3, 1, 1, 1});
      c.activation.low = 0;
      const bool scales_rows = IntegerPanels(c).overlap;
      EXPECT_EQ(scales_rows, channels == 32);
      Sample sample(c, random);
      sample.source[(2 * 6 + 3) * channels + 7] = odd;
      const std::vector<float> found = computed(c, fitted(c, sample));
      for (std::size_t i = 0; i < found.size(); ++i) {
        const std::size_t x = i / 16 % 6, y = i / 16 / 6;
        const bool reads_it = y >= 1 && y <= 3 && (scales_rows || (x >= 2 && x <= 4));
        EXPECT_EQ(std::isnan(found[i]), reads_it) << odd << " at " << y << ' ' << x;
      }
    }
}

TEST_F(IntegerConvolutions, keep_weights_that_are_no_numbers_in_their_output) {
  Random random(6);
  const IntegerConvolution c = convolution_of(40, 20, {5, 5, 1, 1, 1, 0});
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
}  // namespace millrace::kernels
