// Products, convolutions and scales of 8-bit integers: every result is exact.
#include "kernels/plain/byte_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "kernels/plain/byte_convolution.h"
#include "kernels/plain/byte_numbers.h"

namespace millrace::kernels {
namespace {

std::vector<std::uint8_t> random_bytes(Random& random, std::size_t count) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < count; ++i)
    bytes.push_back(static_cast<std::uint8_t>(random.below(256)));
  return bytes;
}

/// In [-most, most].
std::vector<std::int16_t> random_words(Random& random, std::size_t count, std::int32_t most) {
  std::vector<std::int16_t> words;
  for (std::size_t i = 0; i < count; ++i)
    words.push_back(static_cast<std::int16_t>(
        static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(2 * most + 1))) - most));
  return words;
}

/// Words in [-127, 127], for each column with another number added to all of them: as unsigned
/// bytes less a zero point are.
std::vector<std::int16_t> shifted_words(Random& random, std::size_t columns, std::size_t depth) {
  std::vector<std::int16_t> words = random_words(random, columns * depth, 127);
  for (std::size_t c = 0; c < columns; ++c) {
    const std::int16_t shift = random_words(random, 1, 128)[0];
    for (std::size_t k = 0; k < depth; ++k)
      words[c * depth + k] = static_cast<std::int16_t>(words[c * depth + k] + shift);
  }
  return words;
}

enum class Words { bytes, shifted, wide };
std::vector<std::int16_t> words_of(Words kind, Random& random, std::size_t columns,
                                   std::size_t depth) {
  if (kind == Words::shifted) return shifted_words(random, columns, depth);
  return random_words(random, columns * depth, kind == Words::bytes ? 127 : 255);
}

struct ByteProductTest {
  std::size_t rows, columns, depth;
  std::int32_t zero;
};

void expect_exact(const ByteProductTest& test, bool quads, Words kind) {
  Random random(test.rows + test.depth);
  const auto left = random_bytes(random, test.rows * test.depth);
  const auto right = words_of(kind, random, test.columns, test.depth);
  const PackedBytes packed(right, test.columns, quads);
  ByteRows rows{test.rows, test.zero, {}};
  rows.write = [&](std::size_t first, std::size_t count, std::uint8_t* to, std::size_t apart) {
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t k = 0; k < test.depth; ++k)
        to[r * apart + k] = left[(first + r) * test.depth + k];
  };
  std::vector<std::int64_t> expected(test.rows * test.columns);
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::size_t k = 0; k < test.depth; ++k)
      expected[i] += (std::int64_t{left[i / test.columns * test.depth + k]} - test.zero) *
                     std::int64_t{right[i % test.columns * test.depth + k]};
  std::vector<std::int64_t> found(expected.size(), -1);
  packed.multiply(rows, [&](std::size_t first, std::size_t count, const std::int32_t* sums) {
    for (std::size_t i = 0; i < count * test.columns; ++i)
      found[first * test.columns + i] = sums[i / test.columns * packed.width() + i % test.columns];
  });
  EXPECT_EQ(found, expected) << test.rows << " x " << test.columns << " x " << test.depth;
}

constexpr ByteProductTest products[]{{1, 1, 1, 0},      {5, 33, 7, 110},    {66, 32, 64, 128},
                                     {131, 70, 129, 3}, {2, 96, 3000, 255}, {4, 40, 2, 128}};

TEST(PackedBytes, are_multiplied_exactly_in_pairs) {
  for (const ByteProductTest& test : products) expect_exact(test, false, Words::wide);
}

TEST(PackedBytes, are_multiplied_exactly_in_quads) {
  if (!has_quads()) GTEST_SKIP() << "this processor has no AVX-512 VNNI";
  for (const ByteProductTest& test : products) {
    expect_exact(test, true, Words::bytes);
    expect_exact(test, true, Words::shifted);
  }
}

struct ConvolvedBytes {
  std::vector<std::uint8_t> x;
  std::vector<std::int16_t> w;
  std::int32_t zero = 0;
};

std::int32_t exact_sum(const ByteConvolution& c, const ConvolvedBytes& given, std::size_t i) {
  const auto& [x, w, zero] = given;
  const std::size_t column = i % c.width.output, row = i / c.width.output % c.height.output;
  const std::size_t filter = i / c.pixels() % c.filters, image = i / (c.pixels() * c.filters);
  const std::size_t each = c.group_channels(), first = filter / c.group_filters() * each;
  std::int32_t sum = 0;
  for (std::size_t n = 0; n < each * c.height.kernel * c.width.kernel; ++n) {
    const std::size_t kx = n % c.width.kernel, ky = n / c.width.kernel % c.height.kernel;
    const std::size_t channel = n / (c.width.kernel * c.height.kernel);
    const auto top =
        static_cast<std::ptrdiff_t>(row * c.height.stride + ky * c.height.dilation) - c.height.pad;
    const auto left =
        static_cast<std::ptrdiff_t>(column * c.width.stride + kx * c.width.dilation) - c.width.pad;
    if (top < 0 || left < 0 || top >= static_cast<std::ptrdiff_t>(c.height.input) ||
        left >= static_cast<std::ptrdiff_t>(c.width.input))
      continue;
    const std::size_t plane = (image * c.channels + first + channel) * c.height.input;
    const std::uint8_t byte =
        x[(plane + static_cast<std::size_t>(top)) * c.width.input + static_cast<std::size_t>(left)];
    const std::int32_t value =
        c.is_signed ? std::int32_t{static_cast<std::int8_t>(byte)} : std::int32_t{byte};
    sum += (value - zero) * std::int32_t{w[filter * each * c.height.kernel * c.width.kernel + n]};
  }
  return sum;
}

void expect_exact(const ByteConvolution& c, std::int32_t zero) {
  Random random(c.channels);
  ConvolvedBytes given;
  given.zero = zero;
  given.x = random_bytes(random, c.images * c.channels * c.height.input * c.width.input);
  const std::size_t window = c.group_channels() * c.height.kernel * c.width.kernel;
  given.w = random_words(random, c.filters * window, c.groups > 1 ? 255 : 127);
  std::vector<std::int32_t> found(c.images * c.filters * c.pixels(), -1);
  const auto take = [&](const PackedConvolution::Sums& sums) {
    for (std::size_t i = 0; i < sums.count * sums.filters; ++i) {
      const std::size_t filter = sums.first_filter + i % sums.filters;
      const std::size_t pixel = sums.pixel + i / sums.filters;
      found[(sums.image * c.filters + filter) * c.pixels() + pixel] =
          sums.values[i / sums.filters * sums.apart + i % sums.filters];
    }
  };
  PackedConvolution(c, given.w).run(given.x.data(), zero, take);
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], exact_sum(c, given, i)) << i;
}

/// What expect_exact() asks for, with the channels innermost and the sums as bytes.
void expect_bytes(const ByteConvolution& c, std::int32_t zero, bool result_is_signed,
                  Words kind = Words::bytes) {
  Random random(c.channels + c.filters);
  ConvolvedBytes given;
  given.zero = zero;
  const std::size_t area = c.height.input * c.width.input;
  given.x = random_bytes(random, c.images * c.channels * area);
  const std::size_t window = c.group_channels() * c.height.kernel * c.width.kernel;
  given.w = words_of(kind, random, c.filters, window);
  std::vector<std::uint8_t> innermost(given.x.size());
  for (std::size_t i = 0; i < innermost.size(); ++i) {
    const std::size_t image = i / (c.channels * area), channel = i / area % c.channels;
    innermost[(image * area + i % area) * c.channels + channel] = given.x[i];
  }
  std::vector<float> factors;
  std::vector<std::int32_t> bias;
  for (std::size_t f = 0; f < c.filters; ++f) {
    factors.push_back(random.uniform(1e-4f, 4e-3f));
    bias.push_back(static_cast<std::int32_t>(random.below(2'000)) - 1'000);
  }
  const std::size_t apart = c.filters + 3;
  std::vector<std::uint8_t> found(c.images * c.pixels() * apart, 77);
  const ByteRescaling rescaling{bias.data(), factors.data(), result_is_signed ? -3 : 9,
                                result_is_signed};
  PackedConvolution(c, given.w).run(innermost.data(), zero, {rescaling, found.data(), apart});
  for (std::size_t i = 0; i < c.images * c.filters * c.pixels(); ++i) {
    const std::size_t filter = i / c.pixels() % c.filters, image = i / (c.pixels() * c.filters);
    const std::int32_t sum = exact_sum(c, given, i) + bias[filter];
    std::uint8_t expected = 0;
    rescale({1, 1, 1, &sum}, {nullptr, &factors[filter], rescaling.zero, result_is_signed},
            &expected);
    const std::size_t pixel = image * c.pixels() + i % c.pixels();
    ASSERT_EQ(found[pixel * apart + filter], expected)
        << c.channels << " channels, " << c.filters << " filters, " << c.groups
        << " groups: filter " << filter << ", " << pixel;
  }
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_TRUE(i % apart < c.filters || found[i] == 77) << "written beside a pixel";
}

TEST(PackedConvolution, gives_the_nearest_bytes) {
  const ByteWindow rows{9, 9, 3, 1, 1, 1}, columns{13, 13, 3, 1, 1, 1};
  const ByteWindow stride{9, 5, 3, 2, 1, 1}, dilated{13, 11, 3, 1, 2, 1}, one{9, 9, 1, 1, 1, 0};
  for (const std::size_t filters : {1u, 5u, 32u, 33u, 64u, 70u, 96u, 130u}) {
    expect_bytes({1, 3, filters, 1, rows, columns, false}, 110, false);
    expect_bytes({2, 19, filters, 1, stride, columns, true}, -7, true);
    expect_bytes({2, 16, filters, 1, one, one, false}, 128, false);
    expect_bytes({1, 18, filters, 1, one, one, true}, 3, false);
  }
  for (const std::size_t channels : {2u, 16u, 21u, 32u, 63u, 64u, 65u, 96u, 144u}) {
    expect_bytes({2, channels, channels, channels, stride, columns, false}, 3, false);
    expect_bytes({1, channels, channels, channels, rows, dilated, true}, -128, true);
    expect_bytes({1, channels, channels, channels, rows, {13, 13, 5, 1, 1, 2}, false}, 200, true);
  }
  expect_bytes({2, 8, 6, 2, stride, dilated, false}, 255, false);
  expect_bytes({1, 64, 128, 2, rows, columns, true}, 9, false);
  for (const Words kind : {Words::shifted, Words::wide})
    for (const std::size_t channels : {3u, 24u, 64u, 70u}) {
      expect_bytes({2, channels, 40, 1, stride, columns, true}, 9, true, kind);
      expect_bytes({1, channels, 65, 1, one, one, false}, 100, false, kind);
      expect_bytes({2, channels, channels, channels, stride, columns, true}, 9, false, kind);
      expect_bytes({1, channels, channels, channels, rows, dilated, false}, 60, true, kind);
    }
}

TEST(PackedConvolution, takes_the_largest_weights) {
  const ByteWindow rows{9, 9, 3, 1, 1, 1};
  const ByteConvolution c{1, 64, 64, 64, rows, rows, false};
  for (const int weight : {-255, -129, 128, 254, 255}) {
    ConvolvedBytes given;
    given.x.assign(64 * 81, 255);
    given.w.assign(64 * 9, static_cast<std::int16_t>(weight));
    std::vector<std::uint8_t> found(64 * 81);
    const std::vector<float> factors(64, 1.f / 255 / 9 / 2);
    PackedConvolution(c, given.w)
        .run(given.x.data(), 0, {{nullptr, factors.data(), 0, true}, found.data(), 64});
    const std::int32_t sum = 255 * 9 * weight;
    std::uint8_t expected = 0;
    rescale({1, 1, 1, &sum}, {nullptr, factors.data(), 0, true}, &expected);
    EXPECT_EQ(found[4 * 9 * 64 + 4 * 64], expected) << weight;
  }
}

TEST(PackedConvolution, is_exact) {
  const ByteWindow rows{9, 9, 3, 1, 1, 1}, columns{13, 13, 3, 1, 1, 1};
  const ByteWindow stride{9, 5, 3, 2, 1, 1}, dilated{13, 11, 3, 1, 2, 1};
  const ByteWindow cropped{13, 12, 1, 1, 1, -1};
  expect_exact(ByteConvolution{1, 3, 5, 1, rows, columns, false}, 110);
  expect_exact(ByteConvolution{2, 19, 35, 1, rows, columns, true}, -7);
  expect_exact(ByteConvolution{2, 8, 6, 2, stride, dilated, false}, 255);
  expect_exact(ByteConvolution{2, 21, 21, 21, stride, columns, false}, 3);
  expect_exact(ByteConvolution{2, 21, 21, 21, rows, dilated, true}, -128);
  expect_exact(ByteConvolution{1, 16, 16, 16, stride, rows, false}, 128);
  expect_exact(ByteConvolution{1, 32, 32, 32, rows, {13, 13, 5, 1, 1, 2}, false}, 200);
  expect_exact(ByteConvolution{1, 15, 15, 15, rows, cropped, true}, 5);
  expect_exact(ByteConvolution{1, 16, 8, 1, stride, cropped, false}, 0);
}

double in_range(double x, const ByteScale& scale) {
  return std::fmin(std::fmax(x, scale.is_signed ? -128 : 0), scale.is_signed ? 127 : 255);
}
double integer_of(std::uint8_t byte, const ByteScale& scale) {
  return scale.is_signed ? double{static_cast<double>(static_cast<std::int8_t>(byte))}
                         : static_cast<double>(byte);
}

TEST(ByteNumbers, are_the_nearest_and_halves_the_even_integers) {
  Random random(5);
  for (const bool is_signed : {false, true}) {
    const ByteScale scale{0.25f, is_signed ? -3 : 110, is_signed};
    std::vector<float> x;  // multiples of half a step, some beyond the range
    for (std::size_t i = 0; i < 40'003; ++i)
      x.push_back((static_cast<float>(random.below(1000)) - 500.f) * 0.125f);
    std::vector<std::uint8_t> bytes(x.size());
    std::vector<float> back(x.size());
    quantize_numbers(x, scale, bytes.data());
    dequantize_bytes(bytes, scale, back.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = in_range(std::nearbyint(double{x[i]} / 0.25) + scale.zero, scale);
      ASSERT_EQ(integer_of(bytes[i], scale), expected) << x[i];
      ASSERT_EQ(back[i], (expected - scale.zero) * 0.25);
    }
  }
}

TEST(ByteNumbers, are_looked_up_one_by_one) {
  Random random(6);
  ByteTable table;
  for (std::uint8_t& value : table) value = static_cast<std::uint8_t>(random.below(256));
  for (const std::size_t count : {0u, 1u, 63u, 64u, 200'003u}) {
    const auto bytes = random_bytes(random, count);
    std::vector<std::uint8_t> expected, found(count);
    for (const std::uint8_t byte : bytes) expected.push_back(table[byte]);
    look_up_bytes(bytes, table, found.data());
    EXPECT_EQ(found, expected) << count;
  }
}

TEST(ByteNumbers, are_combined_as_their_numbers) {
  Random random(7);
  const auto left_bytes = random_bytes(random, 70'003), right_bytes = random_bytes(random, 70'003);
  const ScaledBytes a{left_bytes, {0.013f, 100, false}}, b{right_bytes, {0.02f, -7, true}};
  const std::size_t count = a.bytes.size();
  std::vector<float> left(count), right(count);
  dequantize_bytes(a.bytes, a.scale, left.data());
  dequantize_bytes(b.bytes, b.scale, right.data());
  for (const bool is_positive : {false, true})
    for (const auto operation :
         {ByteOperation::add, ByteOperation::subtract, ByteOperation::multiply}) {
      std::vector<float> numbers;
      for (std::size_t i = 0; i < count; ++i) {
        const float x = operation == ByteOperation::add        ? left[i] + right[i]
                        : operation == ByteOperation::subtract ? left[i] - right[i]
                                                               : left[i] * right[i];
        numbers.push_back(is_positive ? std::max(x, 0.f) : x);
      }
      const ByteCombination combination{operation, is_positive, {0.03f, 5, false}};
      std::vector<std::uint8_t> expected(count), found(count);
      quantize_numbers(numbers, combination.to, expected.data());
      combine_bytes(a, b, combination, found.data());
      EXPECT_EQ(found, expected);
    }
}

TEST(ByteNumbers, of_what_is_no_number_are_the_least) {
  const std::vector<float> x(19, std::numeric_limits<float>::quiet_NaN());
  std::vector<std::uint8_t> bytes(x.size(), 9);
  quantize_numbers(x, {1, 0, false}, bytes.data());
  EXPECT_EQ(bytes, std::vector<std::uint8_t>(19, 0));
}

TEST(ByteNumbers, have_a_range_with_zero) {
  std::vector<float> x(50'001, -1.f);
  x[49'999] = -7.f;
  EXPECT_EQ(range_of(x).low, -7.f);
  EXPECT_EQ(range_of(x).high, 0.f);
}

TEST(ByteNumbers, come_from_sums_by_one_rounding) {
  constexpr std::size_t rows = 3, columns = 37, apart = 64;
  Random random(6);
  std::vector<std::int32_t> sums, bias;
  std::vector<float> factors;
  for (std::size_t i = 0; i < rows * apart; ++i)
    sums.push_back(static_cast<std::int32_t>(random.below(200'000)) - 100'000);
  for (std::size_t i = 0; i < columns; ++i) {
    bias.push_back(static_cast<std::int32_t>(random.below(2'000)) - 1'000);
    factors.push_back(random.uniform(1e-4f, 2e-3f));
  }
  const ByteScale scale{1, 7, true};
  for (const std::int32_t* its_bias :
       {static_cast<const std::int32_t*>(bias.data()), static_cast<const std::int32_t*>(nullptr)}) {
    std::vector<std::uint8_t> bytes(rows * columns);
    rescale({rows, columns, apart, sums.data()},
            {its_bias, factors.data(), scale.zero, scale.is_signed}, bytes.data());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::size_t c = i % columns;
      const std::int32_t sum = sums[i / columns * apart + c] + (its_bias ? its_bias[c] : 0);
      const float value = static_cast<float>(sum) * factors[c];
      ASSERT_EQ(integer_of(bytes[i], scale),
                in_range(std::nearbyint(double{value}) + scale.zero, scale));
    }
  }
}

}  // namespace
}  // namespace millrace::kernels
