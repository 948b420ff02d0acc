#include "kernels/plain/packed_matrix.h"

#include <algorithm>

#include "kernels/plain/pieces.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t matrix_lanes = 16;
constexpr std::size_t panel_columns = 2 * matrix_lanes;
constexpr std::size_t block_rows = 3;  // so that the sums stay in registers

using MatrixVector [[gnu::vector_size(sizeof(float) * matrix_lanes)]] = float;

[[gnu::always_inline]] inline void read(MatrixVector& x, const float* from) {
  __builtin_memcpy(&x, from, sizeof x);
}

/// Some rows by panels that follow each other.
struct PanelProduct {
  const float* from;
  const float* panels;
  const float* bias;
  float* to;
  std::size_t depth, width;
};

template <std::size_t rows, std::size_t panels>
[[gnu::always_inline]] inline void multiply_panels(const PanelProduct& p) {
  MatrixVector sums[rows][panels][2];
  for (std::size_t n = 0; n < panels; ++n)
    for (std::size_t half = 0; half < 2; ++half)
      for (std::size_t r = 0; r < rows; ++r)
        read(sums[r][n][half], p.bias + n * panel_columns + half * matrix_lanes);
  for (std::size_t k = 0; k < p.depth; ++k)
    for (std::size_t n = 0; n < panels; ++n) {
      MatrixVector a, b;
      read(a, p.panels + (n * p.depth + k) * panel_columns);
      read(b, p.panels + (n * p.depth + k) * panel_columns + matrix_lanes);
      for (std::size_t r = 0; r < rows; ++r) {
        const float factor = p.from[r * p.depth + k];
        sums[r][n][0] += factor * a;
        sums[r][n][1] += factor * b;
      }
    }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t n = 0; n < panels; ++n)
      __builtin_memcpy(p.to + r * p.width + n * panel_columns, &sums[r][n], sizeof sums[r][n]);
}

/// Rows alone take two panels at once: sums that do not wait for each other.
template <std::size_t rows, std::size_t panels>
[[gnu::always_inline]] inline void multiply_all_panels(PanelProduct p) {
  std::size_t column = 0;
  for (; column + panels * panel_columns <= p.width; column += panels * panel_columns) {
    multiply_panels<rows, panels>(p);
    p.panels += panels * panel_columns * p.depth;
    p.bias += panels * panel_columns;
    p.to += panels * panel_columns;
  }
  if (panels > 1 && column < p.width) multiply_panels<rows, 1>(p);
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void multiply_some_rows(PanelProduct p, std::size_t rows) {
  for (; rows >= block_rows; rows -= block_rows) {
    multiply_all_panels<block_rows, 1>(p);
    p.from += block_rows * p.depth;
    p.to += block_rows * p.width;
  }
  for (; rows > 0; --rows) {
    multiply_all_panels<1, 2>(p);
    p.from += p.depth;
    p.to += p.width;
  }
}

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
    multiply_some_rows(
        {from + first * depth_, panels_.data(), bias, to + first * width(), depth_, width()},
        last - first);
  });
}

}  // namespace millrace::kernels
