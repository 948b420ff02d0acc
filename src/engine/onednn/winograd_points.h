#pragma once
// Inside winograd.h's convolutions: the points at which the polynomials of rows are multiplied.
// Lavin and Gray 2016 take 0, 1, -1, 2, -2 and infinity for 4 results; with these the error is less
// than half as large.

namespace millrace::engine::onednn {

/// The points at which tiles of 4x4 results are multiplied, beside 0 and infinity: these and their
/// negatives.
inline constexpr float inner_point = 0.625f, outer_point = 1.5f;

/// A row of numbers to the points of its polynomial, for 4 and for 2 results.
template <class Vector>
[[gnu::always_inline]] inline void to_points(const Vector (&d)[6], Vector (&v)[6]) {
  constexpr float a = inner_point, b = outer_point, aa = a * a, bb = b * b;
  const Vector even_a = d[4] - bb * d[2], odd_a = d[3] - bb * d[1];
  const Vector even_b = d[4] - aa * d[2], odd_b = d[3] - aa * d[1];
  v[0] = d[4] - (aa + bb) * d[2] + aa * bb * d[0];
  v[1] = even_a + a * odd_a;
  v[2] = even_a - a * odd_a;
  v[3] = even_b + b * odd_b;
  v[4] = even_b - b * odd_b;
  v[5] = d[5] - (aa + bb) * d[3] + aa * bb * d[1];
}

template <class Vector>
[[gnu::always_inline]] inline void to_points(const Vector (&d)[4], Vector (&v)[4]) {
  v[0] = d[0] - d[2];
  v[1] = d[1] + d[2];
  v[2] = d[2] - d[1];
  v[3] = d[3] - d[1];
}

/// A row of products at the points to results.
template <class Vector>
[[gnu::always_inline]] inline void from_points(const Vector (&m)[6], Vector (&y)[4]) {
  constexpr float a = inner_point, b = outer_point;
  const Vector even_a = m[1] + m[2], odd_a = a * (m[1] - m[2]);
  const Vector even_b = m[3] + m[4], odd_b = b * (m[3] - m[4]);
  y[0] = m[0] + even_a + even_b;
  y[1] = odd_a + odd_b;
  y[2] = a * a * even_a + b * b * even_b;
  y[3] = a * a * odd_a + b * b * odd_b + m[5];
}

template <class Vector>
[[gnu::always_inline]] inline void from_points(const Vector (&m)[4], Vector (&y)[2]) {
  y[0] = m[0] + m[1] + m[2];
  y[1] = m[1] - m[2] + m[3];
}

}  // namespace millrace::engine::onednn
