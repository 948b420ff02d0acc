#pragma once
// Functions of each number of a vector of GNU's, within 1e-6 of their size, or 3e-6 on processors
// that do not multiply and add in one operation; below -87 they are as good as 0, where they do not
// say otherwise. Not a number stays none.
namespace millrace::kernels {

/// So that products with small numbers are small too.
template <class Vector>
[[gnu::always_inline]] inline Vector not_far_below_zero(Vector x) {
  constexpr float least = -87;
  return x < least ? least - Vector{} : x;
}

/// exp(x) for x <= 87, and exp(-87) below -87: 2^n 2^r with |r| <= 1/2, where 2^r is a polynomial.
/// Where products and sums are one operation, r is as exact as x.
template <class Vector>
[[gnu::always_inline]] inline Vector ordinary_exponential(Vector x) {
  constexpr float log2_of_e = 1.44269504f, rest_of_it = 1.92596303e-8f;
  constexpr float to_integer = 12582912;  // 1.5 * 2^23: adding it rounds
  using Bits [[gnu::vector_size(sizeof(Vector))]] = unsigned;
  x = not_far_below_zero(x);
  const Vector shifted = x * log2_of_e + to_integer, n = shifted - to_integer;
  const Vector r = x * rest_of_it + (x * log2_of_e - n);
  Vector power = 0.00132669704f * r + 0.00967545975f;
  power = power * r + 0.0555074262f;
  power = power * r + 0.240221218f;
  power = power * r + 0.693146949f;
  power = power * r + 1.00000007f;
  const Bits steps = __builtin_bit_cast(Bits, shifted) << 23;
  return __builtin_bit_cast(Vector, __builtin_bit_cast(Bits, power) + steps);
}

/// 2^x for x <= 0, to a few roundings; 0 for x < -125.
template <class Vector>
[[gnu::always_inline]] inline Vector power_of_two(const Vector& x) {
  constexpr float to_integer = 12582912;  // 1.5 * 2^23: adding it rounds
  using Bits [[gnu::vector_size(sizeof(Vector))]] = unsigned;
  const Vector shifted = x + to_integer, rest = x - (shifted - to_integer);
  Vector p = 1.53458110e-4f * rest + 1.33999309e-3f;
  p = p * rest + 9.61848907e-3f;
  p = p * rest + 5.55032864e-2f;
  p = p * rest + 2.40226462e-1f;
  p = p * rest + 6.93147182e-1f;
  p = p * rest + 1.f;
  const Bits steps = __builtin_bit_cast(Bits, shifted) << 23;
  p = __builtin_bit_cast(Vector, __builtin_bit_cast(Bits, p) + steps);
  // What is no number has bits that count as steps too.
  const Vector small = x == x ? Vector{} : x;
  return x >= -125.f ? p : small;
}

/// 1 / (1 + exp(-x)) for what not_far_below_zero() leaves; not a number may become one.
template <class Vector>
[[gnu::always_inline]] inline Vector ordinary_sigmoid(const Vector& x) {
  return 1.f / (ordinary_exponential(-x) + 1.f);
}

/// 1 / (1 + exp(-x))
template <class Vector>
[[gnu::always_inline]] inline Vector sigmoid(const Vector& x) {
  return x == x ? ordinary_sigmoid(not_far_below_zero(x)) : x;
}

/// tanh(x): near zero by a polynomial, whose relative error is below 1e-7.
template <class Vector>
[[gnu::always_inline]] inline Vector hyperbolic_tangent_of(const Vector& x) {
  constexpr float near_zero = 0.625, one = 10;  // from there on it is 1
  const Vector z = x * x, size = x < 0 ? -x : x;
  Vector p = -0.00570498034f * z + 0.0206390806f;
  p = p * z - 0.0537397116f;
  p = p * z + 0.133314416f;
  p = p * z - 0.333332807f;
  const Vector small = (p * z + 1.f) * x;  // keeps the sign of zero
  const Vector large =
      1.f - 2.f / (ordinary_exponential(2.f * (size > one ? one - Vector{} : size)) + 1.f);
  const Vector other = x < 0 ? -large : large;
  // Not a number fails both comparisons.
  return size >= near_zero ? other : small;
}

/// x / (1 + exp(-x)), to the bit what x and its sigmoid multiply to: a plan may compute these
/// apart.
template <class Vector>
[[gnu::always_inline]] inline Vector swish(const Vector& x) {
  const Vector ordinary = not_far_below_zero(x);
  return ordinary * ordinary_sigmoid(ordinary);
}

/// min(max(x, low), high)
template <class Vector>
[[gnu::always_inline]] inline Vector clipped(Vector x, float low, float high) {
  x = x < low ? low + Vector{} : x;
  return x > high ? high + Vector{} : x;
}

/// x min(max(x / 6 + 1 / 2, 0), 1)
template <class Vector>
[[gnu::always_inline]] inline Vector hard_swish(const Vector& x) {
  return x * clipped(x * (1.f / 6) + 0.5f, 0, 1);
}

/// x tanh(ln(1 + exp(x))), which is x w (w + 2) / (w (w + 2) + 2) where w = exp(x).
template <class Vector>
[[gnu::always_inline]] inline Vector mish(Vector x) {
  constexpr float enough = 30;  // from there on it is x
  x = not_far_below_zero(x);
  const Vector w = ordinary_exponential(x > enough ? enough - Vector{} : x);
  const Vector n = w * (w + 2.f);
  return x * (n / (n + 2.f));
}

/// By a quotient of polynomials, fitted to erf(x) / x on [0, 4]; the relative error is below 5e-7.
template <class Vector>
[[gnu::always_inline]] inline Vector error_function(Vector x) {
  constexpr float most = 4;
  x = x > most ? most - Vector{} : x;
  x = x < -most ? -most - Vector{} : x;
  const Vector z = x * x;
  Vector p = 1.9109828e-08f * z - 1.942199e-06f;
  p = p * z + 0.00014727532f;
  p = p * z + 0.003990246f;
  p = p * z + 0.051523916f;
  p = p * z + 0.20711868f;
  p = p * z + 1.1283791f;
  Vector q = 0.0010210227f * z + 0.014957442f;
  q = q * z + 0.11796794f;
  q = q * z + 0.5168854f;
  q = q * z + 1.f;
  return x * p / q;
}

/// x (1 + erf(x / sqrt(2))) / 2
template <class Vector>
[[gnu::always_inline]] inline Vector gelu(const Vector& x) {
  constexpr float nothing_below = -5.7f;
  const Vector ordinary = x < nothing_below ? Vector{} : x;
  return 0.5f * ordinary * (1.f + error_function(ordinary * 0.707106781f));
}

/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
template <class Vector>
[[gnu::always_inline]] inline Vector gelu_tanh(const Vector& x) {
  const Vector inner = 0.797884561f * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.f + hyperbolic_tangent_of(inner));
}

}  // namespace millrace::kernels
