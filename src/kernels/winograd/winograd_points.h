#pragma once
// Inside winograd.h's convolutions: the points at which the polynomials of rows are multiplied.
// Lavin and Gray 2016 take 0, 1, -1, 2, -2 and infinity for 4 results; with these the error is less
// than half as large.
#include <array>
#include <cstddef>
#include <span>

namespace millrace::kernels {

/// As many points as a tile has, in their order.
using WindowAtPoints = std::array<double, 36>;
/// The weights of a window, row by row, at the points of a tile: the inverse of what
/// tile_to_points() and tile_from_points() do.
WindowAtPoints at_points(std::size_t tile, std::span<const float, 9> window);

/// The points at which tiles of 4x4 results are multiplied, beside 0 and infinity: these and their
/// negatives.
inline constexpr float inner_point = 0.625f, outer_point = 1.5f;

/// How many times larger than the largest pixel a number at a point along one axis can be.
constexpr float gain_at_point(std::size_t tile, std::size_t point) {
  constexpr float aa = inner_point * inner_point, bb = outer_point * outer_point;
  if (tile == 2) return 2;
  if (point == 0 || point == 5) return 1 + aa + bb + aa * bb;
  return point <= 2 ? (1 + inner_point) * (1 + bb) : (1 + outer_point) * (1 + aa);
}

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

/// A tile's pixels to its points: `pixel(i, j)` gives them, `put(i, j, v)` takes them.
template <class Vector, std::size_t side, class Pixel, class Put>
[[gnu::always_inline]] inline void tile_to_points(const Pixel& pixel, const Put& put) {
  Vector rows_at[side][side];
#pragma GCC unroll 6
  for (std::size_t i = 0; i < side; ++i) {
    Vector d[side];
#pragma GCC unroll 6
    for (std::size_t j = 0; j < side; ++j) d[j] = pixel(i, j);
    to_points(d, rows_at[i]);
  }
#pragma GCC unroll 6
  for (std::size_t j = 0; j < side; ++j) {
    Vector d[side], v[side];
#pragma GCC unroll 6
    for (std::size_t i = 0; i < side; ++i) d[i] = rows_at[i][j];
    to_points(d, v);
#pragma GCC unroll 6
    for (std::size_t i = 0; i < side; ++i) put(i, j, v[i]);
  }
}

/// The products at a tile's points, `product(i, j)`, to its results, which `put(i, j, y)` takes.
template <class Vector, std::size_t tile, class Product, class Put>
[[gnu::always_inline]] inline void tile_from_points(const Product& product, const Put& put) {
  constexpr std::size_t side = tile + 2;
  Vector columns[tile][side];
#pragma GCC unroll 6
  for (std::size_t j = 0; j < side; ++j) {
    Vector m[side], y[tile];
#pragma GCC unroll 6
    for (std::size_t i = 0; i < side; ++i) m[i] = product(i, j);
    from_points(m, y);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < tile; ++i) columns[i][j] = y[i];
  }
#pragma GCC unroll 4
  for (std::size_t i = 0; i < tile; ++i) {
    Vector y[tile];
    from_points(columns[i], y);
#pragma GCC unroll 4
    for (std::size_t j = 0; j < tile; ++j) put(i, j, y[j]);
  }
}

}  // namespace millrace::kernels
