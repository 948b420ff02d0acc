#pragma once
// Functions of one number without branches, for loops that compilers turn into vectors. Not a
// number stays none.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace millrace::kernels {

/// One of two numbers that both are there: compilers would branch around work for one of them only.
[[gnu::always_inline]] inline float chosen(bool first, float a, float b) {
  const std::uint32_t mask = 0u - static_cast<std::uint32_t>(first);
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(a) & mask) |
                              (std::bit_cast<std::uint32_t>(b) & ~mask));
}

/// x = steps * ln 2 + rest.
struct BinaryExponent {
  float rest = 0;
  std::int32_t steps = 0;

  [[gnu::always_inline]] explicit BinaryExponent(float x) {
    constexpr float to_integer = 12582912.f;  // 1.5 * 2^23: adding it rounds
    const float shifted = x * 1.44269504f + to_integer;
    const float n = shifted - to_integer;
    rest = x - n * 0.693359375f;
    rest = rest - n * -2.12194440e-4f;
    steps = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(shifted) - 0x4b400000u);
  }
  /// 2^steps in two factors, each of which is an ordinary number.
  [[gnu::always_inline]] float first() const { return power(steps >> 1); }
  [[gnu::always_inline]] float second() const { return power(steps - (steps >> 1)); }

 private:
  [[gnu::always_inline]] static float power(std::int32_t n) {
    return std::bit_cast<float>((static_cast<std::uint32_t>(n) + 127u) << 23);
  }
};

/// exp(x) - 1 for |x| <= ln(2) / 2.
[[gnu::always_inline]] inline float exponential_less_one_near_zero(float x) {
  float p = 1.9875691500e-4f;
  p = p * x + 1.3981999507e-3f;
  p = p * x + 8.3334519073e-3f;
  p = p * x + 4.1665795894e-2f;
  p = p * x + 1.6666665459e-1f;
  p = p * x + 5.0000001201e-1f;
  return p * (x * x) + x;
}

[[gnu::always_inline]] inline float exponential(float x) {
  x = chosen(x > 89.f, 89.f, x);
  x = chosen(x < -105.f, -105.f, x);
  const BinaryExponent e(x);
  return (exponential_less_one_near_zero(e.rest) + 1.f) * e.first() * e.second();
}

/// exp(x) - 1 for x <= 0. The relative error is that of a few roundings, near zero too.
[[gnu::always_inline]] inline float exponential_less_one(float x) {
  x = x < -105.f ? -105.f : x;
  const BinaryExponent e(x);
  const float factor = e.first() * e.second();
  return exponential_less_one_near_zero(e.rest) * factor + (factor - 1.f);
}

/// The relative error is that of a few roundings, near one too. Denormal numbers count as zero.
[[gnu::always_inline]] inline float logarithm(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  // x = m * 2^e, with m from the root of a half to that of two.
  const std::uint32_t above = bits - 0x3f3504f3u;
  const float e = static_cast<float>(static_cast<std::int32_t>(above) >> 23);
  const float r = std::bit_cast<float>((above & 0x007fffffu) + 0x3f3504f3u) - 1.f;
  const float z = r * r;
  float p = 7.0376836292e-2f;
  p = p * r - 1.1514610310e-1f;
  p = p * r + 1.1676998740e-1f;
  p = p * r - 1.2420140846e-1f;
  p = p * r + 1.4249322787e-1f;
  p = p * r - 1.6668057665e-1f;
  p = p * r + 2.0000714765e-1f;
  p = p * r - 2.4999993993e-1f;
  p = p * r + 3.3333331174e-1f;
  float y = p * r * z + e * -2.12194440e-4f - 0.5f * z + r;
  y = y + e * 0.693359375f;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  y = chosen(x < std::numeric_limits<float>::min(), -infinity, y);
  y = chosen(x < 0.f, std::numeric_limits<float>::quiet_NaN(), y);
  y = chosen(x == infinity, x, y);
  return chosen(x != x, x, y);
}

/// log(1 + exp(x)), relatively exact where it is small.
[[gnu::always_inline]] inline float soft_plus(float x) {
  const float t = exponential(-std::abs(x)), u = 1.f + t;
  // The logarithm of the rounded sum, and what the rounding took away.
  const float small = logarithm(u) + (t - (u - 1.f)) / u;
  return chosen(x < 0.f, 0.f, x) + small;
}

/// The largest magnitude that sine() and cosine() take.
inline constexpr float largest_angle = 8192.f;

/// sin(x + quarters * pi / 2).
[[gnu::always_inline]] inline float sine_of_quarters(float x, std::uint32_t quarters) {
  constexpr float to_integer = 12582912.f;
  const float shifted = x * 0.636619772f + to_integer;
  const float n = shifted - to_integer;
  float r = x - n * 1.5703125f;
  r = r - n * 4.837512969970703125e-4f;
  r = r - n * 7.54978995489188216e-8f;
  quarters += std::bit_cast<std::uint32_t>(shifted);
  const float z = r * r;
  float s = -1.9515295891e-4f * z + 8.3321608736e-3f;
  s = (s * z - 1.6666654611e-1f) * z * r + r;
  float c = 2.443315711809948e-5f * z - 1.388731625493765e-3f;
  c = (c * z + 4.166664568298827e-2f) * (z * z) - 0.5f * z + 1.f;
  const float y = (quarters & 1u) != 0 ? c : s;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(y) ^ ((quarters & 2u) << 30));
}

}  // namespace millrace::kernels
