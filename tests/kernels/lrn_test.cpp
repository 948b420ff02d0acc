// Local response normalisation against exact arithmetic.
#include "kernels/lrn.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t more_than_one_share = 30'000;  // numbers

float value_of(std::uint16_t bfloat16) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bfloat16) << 16);
}

/// Numbers of many magnitudes, some of them zero, all of them bfloat16 numbers.
std::vector<std::uint16_t> samples(std::size_t count) {
  Random random(1);
  std::vector<std::uint16_t> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = std::ldexp(random.uniform(-1, 1), static_cast<int>(random.below(24)) - 12);
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
    values.push_back(random.below(10) == 0 ? std::uint16_t{0}
                                           : static_cast<std::uint16_t>(bits >> 16));
  }
  return values;
}

/// The definition, in double precision.
double exact(const std::vector<std::uint16_t>& x, std::size_t i, const ResponseNorm& norm) {
  const auto channels = static_cast<std::ptrdiff_t>(norm.channels);
  const auto here = static_cast<std::ptrdiff_t>(i);
  const auto first = here - here % channels;
  double sum = 0;
  for (std::ptrdiff_t c = here - 2; c <= here + 2; ++c)
    if (c >= first && c < first + channels)
      sum += std::pow(double{value_of(x[static_cast<std::size_t>(c)])}, 2);
  return value_of(x[i]) * std::pow(norm.bias + norm.alpha / 5 * sum, -0.75);
}

const std::vector<ResponseNorm> norms{{1, 1e-4f, 1},  {3, 1e-4f, 1},    {17, 0.5f, 2},
                                      {96, 1e-4f, 1}, {192, 10, 1e-3f}, {64, 0, 1}};

TEST(ResponseNorm, of_float32_numbers_is_right_within_rounding) {
  for (const ResponseNorm& norm : norms) {
    const auto x = samples(more_than_one_share / norm.channels * norm.channels);
    std::vector<float> from, to(x.size(), NAN);
    for (const std::uint16_t each : x) from.push_back(value_of(each));
    normalize_response(std::span<const float>(from), norm, to.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double y = exact(x, i, norm);
      ASSERT_NEAR(to[i], y, 1e-6 * std::abs(y)) << i << " of " << norm.channels;
    }
  }
}

TEST(ResponseNorm, of_bfloat16_numbers_is_the_nearest_one_but_for_near_ties) {
  constexpr double half_a_step = 1.0 / 256;  // relative to the smallest number of a binade
  for (const ResponseNorm& norm : norms) {
    const auto x = samples(more_than_one_share / norm.channels * norm.channels);
    std::vector<std::uint16_t> to(x.size());
    normalize_response(std::span<const std::uint16_t>(x), norm, to.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double y = exact(x, i, norm);
      const double binade = y == 0 ? 0 : std::ldexp(1, std::ilogb(y));
      ASSERT_NEAR(value_of(to[i]), y, half_a_step * binade * 1.01) << i << " of " << norm.channels;
    }
  }
}

}  // namespace
}  // namespace millrace::kernels
