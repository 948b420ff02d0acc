// Direct convolutions in float16 and bfloat16 against the definition.
#include "kernels/half/half_convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/bfloat16.h"
#include "kernels/float16.h"
#include "kernels/half/half_elements.h"
#include "kernels/machine.h"
#include "kernels/own_samples.h"
#include "network/tensor.h"

namespace millrace::kernels {
namespace {

using namespace test::kernels;  // NOLINT: the vocabulary of these tests

constexpr float infinity = std::numeric_limits<float>::infinity();

Half stored(StoredNumber kind, float x) {
  return kind == StoredNumber::bf16 ? to_bfloat16(x) : to_float16(x);
}
float read(StoredNumber kind, Half x) {
  return kind == StoredNumber::bf16 ? from_bfloat16(x) : from_float16(x);
}

class Halves : public testing::TestWithParam<StoredNumber> {
 protected:
  void SetUp() override {
    if (kind() == StoredNumber::bf16 ? !has_bfloat_products() : !has_half_products())
      GTEST_SKIP() << "this processor has no arithmetic of such numbers";
  }
  StoredNumber kind() const { return GetParam(); }
  /// Roundings of up to 64 numbers hardly ever add up. In bfloat16 only weights are rounded.
  double most_error() const { return kind() == StoredNumber::bf16 ? 1.2 * 0x1p-8 : 5 * 0x1p-11; }
};

/// As many random numbers, as they are stored.
std::vector<Half> random_halves(StoredNumber kind, std::size_t count, float largest,
                                Random& random) {
  std::vector<Half> result(count);
  for (Half& number : result)
    number = stored(kind, largest * static_cast<float>(random.uniform(-1, 1)));
  return result;
}

struct Numbers {
  std::vector<Half> source, before;
  std::vector<float> weights, bias;

  Numbers(const HalfConvolution& c, float largest, Random& random)
      : source(random_halves(
            c.source, c.images * c.depth.input * c.height.input * c.width.input * c.channels,
            largest, random)),
        before(random_halves(c.source, c.pixels() * c.outputs, largest, random)),
        weights(random_values(c.outputs * c.channels_of_group() * c.taps(), random)),
        bias(random_values(c.outputs, random)) {}
};

/// A tap's place in the input, or a number too large.
std::size_t at(const WindowAxis& axis, std::size_t output, std::size_t tap) {
  return output * axis.stride + tap * axis.dilation - axis.pad;
}

/// Sums of products, and of their magnitudes.
struct Sums {
  double sum = 0, magnitudes = 0;
};

Sums sums_of(const HalfConvolution& c, const Numbers& n, std::size_t pixel, std::size_t output) {
  const std::size_t x = pixel % c.width.output, rows = pixel / c.width.output;
  const std::size_t y = rows % c.height.output, planes = rows / c.height.output;
  const std::size_t z = planes % c.depth.output, image = planes / c.depth.output;
  const std::size_t channels = c.channels_of_group();
  Sums sums;
  for (std::size_t tap = 0; tap < c.taps(); ++tap) {
    const std::size_t row = tap / c.width.window;
    const std::size_t iz = at(c.depth, z, row / c.height.window);
    const std::size_t iy = at(c.height, y, row % c.height.window);
    const std::size_t ix = at(c.width, x, tap % c.width.window);
    if (iz >= c.depth.input || iy >= c.height.input || ix >= c.width.input) continue;
    const std::size_t place = ((image * c.depth.input + iz) * c.height.input + iy) * c.width.input;
    for (std::size_t i = 0; i < channels; ++i) {
      const std::size_t channel = output / c.outputs_of_group() * channels + i;
      const double product = double{read(c.source, n.source[(place + ix) * c.channels + channel])} *
                             double{n.weights[(output * channels + i) * c.taps() + tap]};
      sums.sum += product;
      sums.magnitudes += std::abs(product);
    }
  }
  return sums;
}

std::vector<Half> computed(const HalfConvolution& c, const Numbers& n, bool has_bias) {
  network::Buffer weights(Bytes{static_cast<std::int64_t>(packed_size(c))});
  pack_weights(c, n.weights, weights.bytes());
  std::vector<Half> result = n.before;
  convolve(c, {n.source.data(), weights.data(), has_bias ? n.bias.data() : nullptr,
               result.data()});
  return result;
}

/// In shares of the sum of the products' magnitudes, beyond the rounding of the result: of each
/// result.
double error_of(const HalfConvolution& c, const Numbers& n, bool has_bias) {
  const std::vector<Half> found = computed(c, n, has_bias);
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Sums sums = sums_of(c, n, i / c.outputs, i % c.outputs);
    const double bias = has_bias ? double{n.bias[i % c.outputs]} : 0;
    const double before = double{read(c.source, n.before[i])};
    const double y = finished(c, sums.sum + bias, before);
    const double magnitudes =
        sums.magnitudes + std::abs(bias) + (c.adds ? std::abs(before) : 0) + 1e-6;
    const auto result = double{read(c.source, found[i])};
    if (std::isnan(result)) return std::numeric_limits<double>::infinity();
    const double rounding = c.source == StoredNumber::bf16
                                ? std::abs(y) * 0x1p-8
                                : std::max(std::abs(y), 0x1p-14) * 0x1p-11;
    worst = std::max(worst, (std::abs(y - result) - rounding) / magnitudes);
  }
  return worst;
}

void choose_end(HalfConvolution& c, Random& random) {
  c.adds = random.below(2) == 0;
  c.adds_last = c.adds && random.below(2) == 0;
  const std::size_t kind = random.below(5);
  if (kind == 0) c.activation.slope = 0.1f;
  if (kind == 1) c.activation = {1, 0, random.below(2) == 0 ? 1.f : 1e9f};
  if (kind == 2) c.activation.swish = true;
  if (kind == 3) c.activation.hard_swish = true;
}

HalfConvolution of_kind(StoredNumber kind) {
  HalfConvolution c;
  c.source = c.result = c.added = kind;
  return c;
}

HalfConvolution random_dense(StoredNumber kind, Random& random) {
  constexpr std::size_t counts[] = {1, 2, 3, 4, 7, 8, 12, 16, 24, 40};
  constexpr std::size_t groups[] = {1, 1, 1, 2, 3};
  HalfConvolution c = of_kind(kind);
  c.images = 1 + random.below(3);
  c.groups = groups[random.below(5)];
  c.channels = c.groups * counts[random.below(10)];
  c.outputs = c.groups * counts[random.below(10)];
  c.height = random_axis(random);
  c.width = random_axis(random);
  if (random.below(4) == 0) c.depth = {5, 4, 2, 1, 1, 0};
  if (random.below(3) == 0) {  // pixels as they lie
    c.height = {9, 9, 1, 1, 1, 0};
    c.width = {7, 7, 1, 1, 1, 0};
  }
  choose_end(c, random);
  return c;
}

std::string describe(const HalfConvolution& c) {
  return test::kernels::describe(c) + " groups " + std::to_string(c.groups) +
         (c.adds_last ? " last" : "") + (c.activation.swish ? " swish" : "");
}

using HalfConvolutions = Halves;
INSTANTIATE_TEST_SUITE_P(, HalfConvolutions,
                         testing::Values(StoredNumber::f16, StoredNumber::bf16),
                         [](const auto& info) {
                           return info.param == StoredNumber::f16 ? "float16" : "bfloat16";
                         });

/// What is so of float16 only.
class Float16Convolutions : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_half_products()) GTEST_SKIP() << "this processor has no arithmetic of float16 numbers";
  }
  static constexpr double most_error = 5 * 0x1p-11;
};

TEST_P(HalfConvolutions, are_what_the_definition_says) {
  Random random(1);
  for (int i = 0; i < 400; ++i) {
    const HalfConvolution c = random_dense(kind(), random);
    EXPECT_LT(error_of(c, Numbers(c, 1, random), random.below(3) > 0), most_error()) << describe(c);
  }
}

TEST_P(HalfConvolutions, sums_of_many_numbers_are_added_in_steps) {
  Random random(2);
  for (int i = 0; i < 12; ++i) {
    HalfConvolution c = of_kind(kind());
    c.channels = 128 + random.below(200);
    c.outputs = 1 + random.below(300);
    c.height = c.width = {6, 6, 3, 1, 1, 1};
    choose_end(c, random);
    EXPECT_LT(error_of(c, Numbers(c, 1, random), true), most_error()) << describe(c);
  }
}

TEST_P(HalfConvolutions, of_single_channels_are_what_the_definition_says) {
  Random random(3);
  for (int i = 0; i < 400; ++i) {
    HalfConvolution c = random_dense(kind(), random);
    c.groups = c.outputs = c.channels = 2 + random.below(40);
    c.depth = {};
    EXPECT_LT(error_of(c, Numbers(c, 1, random), random.below(3) > 0), most_error()) << describe(c);
  }
}

/// With windows of usual networks: several results are computed at once.
TEST_P(HalfConvolutions, of_single_channels_in_usual_windows) {
  Random random(4);
  for (const std::size_t window : {3, 5})
    for (const std::size_t stride : {1, 2})
      for (const std::size_t size : {1, 2, 7, 14, 23}) {
        HalfConvolution c = of_kind(kind());
        c.groups = c.outputs = c.channels = 20;
        c.height = c.width = {size, (size - 1) / stride + 1, window, stride, 1, window / 2};
        choose_end(c, random);
        EXPECT_LT(error_of(c, Numbers(c, 1, random), true), most_error()) << describe(c);
      }
}

/// A convolution of single channels or not, with weights whose sums are about 1.
HalfConvolution small(bool is_depthwise, Random& random) {
  HalfConvolution c = of_kind(StoredNumber::f16);
  c.channels = c.outputs = 8 + random.below(24);
  c.groups = is_depthwise ? c.channels : 1;
  c.height = c.width = {6, 6, 3, 1, 1, 1};
  return c;
}
Numbers with_small_weights(const HalfConvolution& c, float largest, Random& random) {
  Numbers n(c, largest, random);
  const auto products = static_cast<float>(c.channels_of_group() * c.taps());
  for (float& weight : n.weights) weight *= 2 / products;
  return n;
}

TEST_F(Float16Convolutions, no_sum_of_the_largest_numbers_overflows) {
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    const HalfConvolution c = small(i % 2 == 0, random);
    Numbers n = with_small_weights(c, 1, random);
    for (Half& number : n.source) number = to_float16(random.below(2) == 0 ? 65504.f : -65504.f);
    for (std::size_t k = 0; k < n.weights.size() / 2; ++k)  // what cancels out in the end
      n.weights[2 * k + 1] = -(n.weights[2 * k] *= 20);
    const std::vector<Half> found = computed(c, n, true);
    for (std::size_t at = 0; at < found.size(); ++at) {
      const Sums sums = sums_of(c, n, at / c.outputs, at % c.outputs);
      if (std::abs(sums.sum) > 65000) continue;
      const double y = double{from_float16(found[at])};
      EXPECT_LT(std::abs(y - sums.sum) / sums.magnitudes, most_error) << describe(c);
    }
  }
}

TEST_F(Float16Convolutions, small_numbers_are_not_taken_for_zeros) {
  Random random(6);
  for (int i = 0; i < 60; ++i) {
    HalfConvolution c = small(i % 2 == 0, random);
    Numbers n = with_small_weights(c, 0x1p-15f, random);  // half of the smallest normal one
    const std::vector<Half> found = computed(c, n, false);
    for (std::size_t at = 0; at < found.size(); ++at)
      EXPECT_NEAR(double{from_float16(found[at])},
                  sums_of(c, n, at / c.outputs, at % c.outputs).sum, 16 * 0x1p-24)
          << describe(c);
  }
}

TEST_F(Float16Convolutions, weights_below_float16_count) {
  Random random(7);
  for (const bool is_depthwise : {false, true}) {
    const HalfConvolution c = small(is_depthwise, random);
    Numbers n(c, 1000, random);
    for (float& weight : n.weights) weight *= 1e-6f;
    const std::vector<Half> found = computed(c, n, false);
    for (std::size_t at = 0; at < found.size(); ++at) {
      const Sums sums = sums_of(c, n, at / c.outputs, at % c.outputs);
      const double most = most_error * sums.magnitudes + 0x1p-24;
      EXPECT_NEAR(double{from_float16(found[at])}, sums.sum, most);
    }
  }
}

TEST_F(Float16Convolutions, what_is_too_large_is_infinite_and_clipped) {
  Random random(8);
  for (const bool is_depthwise : {false, true})
    for (const bool clips : {false, true}) {
      HalfConvolution c = small(is_depthwise, random);
      if (clips) c.activation = {1, 0, 6};
      Numbers n(c, 1, random);
      std::fill(n.source.begin(), n.source.end(), to_float16(60000));
      std::fill(n.weights.begin(), n.weights.end(), 2.f);
      for (const Half y : computed(c, n, true)) EXPECT_EQ(from_float16(y), clips ? 6 : infinity);
    }
}

TEST_P(HalfConvolutions, numbers_that_are_none_stay_so_and_reach_no_other_pixel) {
  Random random(9);
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity}) {
    HalfConvolution c = of_kind(kind());
    c.channels = 6;  // no multiple of what is read at once
    c.outputs = 8;
    c.height = c.width = {4, 4, 1, 1, 1, 0};
    if (std::isnan(odd)) c.activation = {1, 0, 6};
    Numbers n(c, 1, random);
    n.source[5 * c.channels + 2] = stored(kind(), odd);
    const std::vector<Half> found = computed(c, n, true);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(!std::isfinite(read(kind(), found[i])), i / c.outputs == 5) << i;
    const float weight = n.weights[2];
    if (std::isinf(odd)) {
      EXPECT_EQ(read(kind(), found[5 * c.outputs]), weight > 0 ? odd : -odd);
    }
  }
}

TEST(HalfNumbers, are_calculated_with_where_the_processor_says_so) {
  if (has_half_products()) {
    EXPECT_TRUE(has("asimdhp"));
  }
#if defined(__aarch64__) && !defined(__clang__)
  EXPECT_EQ(has_bfloat_products(), has("bf16"));
#endif
}

/// Sets of instructions do not matter.
TEST(HalfNumbers, from_and_to_float32) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float x = from_float16(static_cast<std::uint16_t>(bits));
    if (!std::isnan(x)) {
      EXPECT_EQ(to_float16(x), bits);
    }
  }
  EXPECT_EQ(to_float16(65519.996f), 0x7bff);
  EXPECT_EQ(to_float16(65520.f), 0x7c00);
  EXPECT_EQ(to_float16(1 + 0x1p-11f), 0x3c00);  // ties to even
  EXPECT_EQ(to_float16(1 + 3 * 0x1p-11f), 0x3c02);
  EXPECT_EQ(to_float16(0x1p-25f), 0);
  EXPECT_EQ(to_float16(0x1.01p-25f), 1);
  EXPECT_EQ(to_float16(-0x1.8p-24f), 0x8002);
}

TEST_P(HalfConvolutions, the_processor_rounds_such_numbers_as_we_do) {
  Random random(12);
  std::vector<float> numbers;
  for (int i = 0; i < 100'003; ++i)
    numbers.push_back(std::ldexp(static_cast<float>(random.uniform(-1, 1)),
                                 static_cast<int>(random.below(45)) - 27));
  numbers.push_back(infinity);
  numbers.push_back(1 + 0x1p-8f);  // ties to even
  numbers.push_back(1 + 3 * 0x1p-8f);
  std::vector<Half> halves(numbers.size());
  write_halves_of(numbers, halves.data(), kind());
  std::vector<float> again(numbers.size());
  write_floats_of(halves, again.data(), kind());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(halves[i], stored(kind(), numbers[i])) << numbers[i];
    EXPECT_EQ(again[i], read(kind(), halves[i]));
  }
}

void check_pairs(StoredNumber kind, HalfPairs pairs, std::size_t count, bool by_row) {
  Random random(11);
  const std::vector<Half> a = random_halves(kind, count * (by_row ? 5 : 1), 3, random);
  const std::vector<Half> b = random_halves(kind, count, 3, random);
  std::vector<Half> to(a.size());
  pair({pairs, 0, 5}, {a, b.data(), by_row ? count : 0, kind}, to.data());
  for (std::size_t i = 0; i < to.size(); ++i) {
    const float x = read(kind, a[i]), y = read(kind, b[i % count]);
    const float whole = pairs == HalfPairs::sums ? x + y : x * y;
    EXPECT_EQ(read(kind, to[i]), read(kind, stored(kind, std::clamp(whole, 0.f, 5.f))));
  }
}

TEST_P(HalfConvolutions, pairs_of_numbers) {
  for (const std::size_t count : {1, 7, 8, 30, 9000})
    for (const bool by_row : {false, true}) {
      check_pairs(kind(), HalfPairs::sums, count, by_row);
      check_pairs(kind(), HalfPairs::products, count, by_row);
    }
}

}  // namespace
}  // namespace millrace::kernels
