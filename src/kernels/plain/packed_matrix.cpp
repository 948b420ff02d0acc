#include "kernels/plain/packed_matrix.h"

#include <algorithm>

#include "kernels/lane_products.h"
#include "kernels/plain/pieces.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t panel_columns = 32;
#if defined(__aarch64__)
constexpr std::size_t block_rows = 4;  // so that the sums stay in registers
#else
constexpr std::size_t block_rows = 3;
#endif

/// Some rows by panels that follow each other.
struct PanelProduct {
  const float* from;
  const float* panels;
  const float* bias;
  float* to;
  std::size_t depth, width;
};

/// Sums for the columns of some vectors in each panel, which are copied one by one: else compilers
/// keep them in memory.
template <std::size_t lanes, std::size_t rows, std::size_t panels>
struct PanelSums {
  using Vector = typename LanesOf<lanes>::Type;
  static constexpr std::size_t vectors = lanes == lane_count ? 2 : 4, columns = vectors * lanes;
  Vector sums[rows][panels][vectors];

  /// f(sum, row, place in the rows of all panels)
  template <class F>
  [[gnu::always_inline]] void for_each(const F& f) {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (std::size_t n = 0; n < panels; ++n)
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v)
          f(sums[r][n][v], r, n * panel_columns + v * lanes);
  }

  [[gnu::always_inline]] void multiply(const PanelProduct& p) {
    for_each([&](Vector & sum, std::size_t, std::size_t at)
                 __attribute__((always_inline)) { read_vector(sum, p.bias + at); });
    std::size_t k = 0;
#if defined(__aarch64__)
    for (; k + 4 <= p.depth; k += 4)
#pragma GCC unroll 4
      for (std::size_t n = 0; n < panels; ++n) add_four(p, k, n);
#endif
    for (; k < p.depth; ++k)
#pragma GCC unroll 4
      for (std::size_t n = 0; n < panels; ++n) add_products(p, k, n);
    for_each([&](Vector & sum, std::size_t r, std::size_t at) __attribute__((always_inline)) {
      write_vector(p.to + r * p.width + at, sum);
    });
  }

#if defined(__aarch64__)
  /// Four factors of a row are read at once.
  [[gnu::always_inline]] void add_four(const PanelProduct& p, std::size_t k, std::size_t n) {
    Vector factors[rows];
#pragma GCC unroll 4
    for (std::size_t r = 0; r < rows; ++r) read_vector(factors[r], p.from + r * p.depth + k);
    const float* const panel = p.panels + (n * p.depth + k) * panel_columns;
    add_lane<0>(factors, panel, n);
    add_lane<1>(factors, panel + panel_columns, n);
    add_lane<2>(factors, panel + 2 * panel_columns, n);
    add_lane<3>(factors, panel + 3 * panel_columns, n);
  }

  template <int lane>
  [[gnu::always_inline]] void add_lane(const Vector (&factors)[rows], const float* panel,
                                       std::size_t n) {
    Vector x[vectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) read_vector(x[v], panel + v * lanes);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (std::size_t v = 0; v < vectors; ++v) {
        if constexpr (rows == 1)
          add_product<lane>(sums[r][n][v], x[v], factors[r]);
        else  // more than the registers hold
          sums[r][n][v] += x[v] * spread<lane>(factors[r]);
      }
  }
#endif

  [[gnu::always_inline]] void add_products(const PanelProduct& p, std::size_t k, std::size_t n) {
    const float* const panel = p.panels + (n * p.depth + k) * panel_columns;
    Vector x[vectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) read_vector(x[v], panel + v * lanes);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < rows; ++r) {
      const float factor = p.from[r * p.depth + k];
#pragma GCC unroll 4
      for (std::size_t v = 0; v < vectors; ++v) sums[r][n][v] += factor * x[v];
    }
  }
};

template <std::size_t lanes, std::size_t rows, std::size_t panels>
[[gnu::always_inline]] inline void multiply_panels(PanelProduct p) {
  using Sums = PanelSums<lanes, rows, panels>;
  for (std::size_t column = 0; column < panel_columns; column += Sums::columns) {
    Sums().multiply(p);
    p.panels += Sums::columns;
    p.bias += Sums::columns;
    p.to += Sums::columns;
  }
}

/// Rows alone take two panels at once: sums that do not wait for each other.
template <std::size_t lanes, std::size_t rows, std::size_t panels>
[[gnu::always_inline]] inline void multiply_all_panels(PanelProduct p) {
  std::size_t column = 0;
  for (; column + panels * panel_columns <= p.width; column += panels * panel_columns) {
    multiply_panels<lanes, rows, panels>(p);
    p.panels += panels * panel_columns * p.depth;
    p.bias += panels * panel_columns;
    p.to += panels * panel_columns;
  }
  if (panels > 1 && column < p.width) multiply_panels<lanes, rows, 1>(p);
}

struct RowsOfProduct {
  PanelProduct p;
  std::size_t rows;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    for (; rows >= block_rows; rows -= block_rows) {
      multiply_all_panels<lanes, block_rows, 1>(p);
      p.from += block_rows * p.depth;
      p.to += block_rows * p.width;
    }
    for (; rows > 0; --rows) {
      multiply_all_panels<lanes, 1, 2>(p);
      p.from += p.depth;
      p.to += p.width;
    }
  }
};

}  // namespace

PackedMatrix::PackedMatrix(std::span<const float> transposed, std::size_t columns)
    : columns_(columns), depth_(columns == 0 ? 0 : transposed.size() / columns) {
  panels_.resize(width() * depth_);
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t k = 0; k < depth_; ++k)
      panels_[(c / panel_columns * depth_ + k) * panel_columns + c % panel_columns] =
          transposed[c * depth_ + k];
}

std::size_t PackedMatrix::width() const {
  return (columns_ + panel_columns - 1) / panel_columns * panel_columns;
}

void PackedMatrix::multiply(std::size_t rows, const float* from, const float* bias,
                            float* to) const {
  const std::size_t work = std::max<std::size_t>(width() * depth_ / 16, 1);
  const std::size_t each = std::max<std::size_t>(worthwhile / work, 1);
  const std::size_t whole = (each + block_rows - 1) / block_rows * block_rows;
  in_pieces(rows, whole, [&](std::size_t first, std::size_t last) {
    run_in_lanes(RowsOfProduct{
        {from + first * depth_, panels_.data(), bias, to + first * width(), depth_, width()},
        last - first});
  });
}

}  // namespace millrace::kernels
