#pragma once
// Matrix products, in blocks that stay in the cache and in registers.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/operation/interruption_point.h"

namespace millrace::network::loops {

/// Columns of the right matrix that are worked on together.
inline constexpr std::int64_t panel_width = 8;

/// C += A * B. A may be read transposed, thus two strides; C is row-major. B comes in panels.
template <class T>
struct Product {
  const T* a = nullptr;
  std::int64_t a_row = 0, a_column = 0;
  T* c = nullptr;
  std::int64_t c_row = 0;
  std::int64_t rows = 0, columns = 0, depth = 0;
};

/// Where a panel of B begins: depth `k`, column `column`; `depth` by `columns` elements, of which
/// each row is followed by others up to panel_width that do not matter.
struct PanelPlace {
  std::int64_t k = 0, depth = 0, column = 0, columns = 0;
};

/// Rows of C by one panel: the sums stay in registers. Terms are added in the order of depth.
template <int rows, class T>
void multiply_panel(const Product<T>& p, const T* a, const T* panel, const PanelPlace& at) {
  std::array<std::array<T, panel_width>, rows> sums{};
  T* c = p.c + at.column;
  for (int r = 0; r < rows; ++r) std::copy_n(c + r * p.c_row, at.columns, sums[r].begin());
  for (std::int64_t k = 0; k < at.depth; ++k, a += p.a_column, panel += panel_width)
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < panel_width; ++j) sums[r][j] += a[r * p.a_row] * panel[j];
  for (int r = 0; r < rows; ++r) std::copy_n(sums[r].begin(), at.columns, c + r * p.c_row);
}

template <class T>
void multiply_rows(Product<T> p, const T* panel, const PanelPlace& at) {
  p.a += at.k * p.a_column;
  for (; p.rows >= 4; p.rows -= 4, p.a += 4 * p.a_row, p.c += 4 * p.c_row)
    multiply_panel<4>(p, p.a, panel, at);
  for (; p.rows > 0; --p.rows, p.a += p.a_row, p.c += p.c_row)
    multiply_panel<1>(p, p.a, panel, at);
}

/// fill(place, panel) writes a panel of B.
template <class T, class Fill>
void multiply(const Product<T>& p, Fill&& fill) {
  constexpr std::int64_t block = 512;
  std::vector<T> panel(static_cast<std::size_t>(std::min(block, p.depth) * panel_width));
  for (std::int64_t k = 0; k < p.depth; k += block)
    for (std::int64_t column = 0; column < p.columns; column += panel_width) {
      const PanelPlace at{k, std::min(block, p.depth - k), column,
                          std::min(panel_width, p.columns - column)};
      interruption_point();
      fill(at, panel.data());
      multiply_rows(p, panel.data(), at);
    }
}

}  // namespace millrace::network::loops
