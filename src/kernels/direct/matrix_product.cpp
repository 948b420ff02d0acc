#include "kernels/direct/matrix_product.h"

#include <algorithm>

#include "kernels/activate.h"
#include "kernels/bend.h"
#include "kernels/direct/direct_tasks.h"
#include "kernels/lane_products.h"
#include "kernels/plain/pieces.h"

namespace millrace::kernels {
namespace {

/// For fewer rows, packing the second factor takes longer than reading it as it lies.
constexpr std::size_t least_packed_rows = 4;
constexpr std::size_t columns_at_once = 4;  // in vectors

bool reads_as_it_lies(const MatrixProduct& m) {
  return m.product.pixels() < least_packed_rows && m.b_column == 1;
}

/// Some panels of the second factor, as direct_convolution.h packs weights.
struct PackedColumns {
  const MatrixProduct& m;
  const DirectTasks& tasks;
  const float* b;
  float* to;

  void pack(std::size_t panel) const {
    const std::size_t first = panel * tasks.panel, depth = m.product.channels;
    const std::size_t columns = std::min(tasks.panel, m.product.outputs - first);
    float* const packed = to + panel * tasks.depth * tasks.panel;
    std::fill_n(packed + depth * tasks.panel, (tasks.depth - depth) * tasks.panel, 0.f);
    if (columns < tasks.panel) std::fill_n(packed, depth * tasks.panel, 0.f);
    if (m.b_column == 1)
      pack_rows(b + first, columns, packed);
    else
      pack_columns(b + first * m.b_column, columns, packed);
  }

 private:
  void pack_rows(const float* from, std::size_t columns, float* packed) const {
    for (std::size_t k = 0; k < m.product.channels; ++k, from += m.b_row, packed += tasks.panel)
      for (std::size_t i = 0; i < columns; ++i) packed[i] = m.scale * from[i];
  }
  void pack_columns(const float* from, std::size_t columns, float* packed) const {
    for (std::size_t i = 0; i < columns; ++i, from += m.b_column)
      for (std::size_t k = 0; k < m.product.channels; ++k)
        packed[k * tasks.panel + i] = m.scale * from[k * m.b_row];
  }
};

void pack(const MatrixProduct& m, const float* b, float* to) {
  const DirectTasks tasks(m.product);
  const PackedColumns columns{m, tasks, b, to};
  in_pieces_of_rows(tasks.panels, tasks.depth * tasks.panel,
                    [&](std::size_t first, std::size_t last) {
                      for (std::size_t panel = first; panel < last; ++panel) columns.pack(panel);
                    });
}

/// One row of the first factor by some columns of the second, which lie side by side.
struct RowByColumns {
  const MatrixProduct& m;
  const float *a, *b, *bias;
  float* to;
  std::size_t columns;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() const {
    using Vector = typename LanesOf<lanes>::Type;
    constexpr std::size_t whole = columns_at_once * lanes;
    std::size_t i = 0;
    for (; i + whole <= columns; i += whole) {
      Vector sums[columns_at_once] = {};
      const float* row = b + i;
      for (std::size_t k = 0; k < m.product.channels; ++k, row += m.b_row) {
        const Vector x = a[k] - Vector{};
#pragma GCC unroll 4
        for (std::size_t v = 0; v < columns_at_once; ++v) {
          Vector y;
          read_vector(y, row + v * lanes);
          sums[v] += x * y;
        }
      }
#pragma GCC unroll 4
      for (std::size_t v = 0; v < columns_at_once; ++v)
        finish<lanes>(sums[v], i + v * lanes, lanes);
    }
    for (; i < columns; i += lanes) run_rest<lanes>(i, std::min(lanes, columns - i));
  }

 private:
  template <std::size_t lanes>
  [[gnu::always_inline]] void run_rest(std::size_t i, std::size_t count) const {
    using Vector = typename LanesOf<lanes>::Type;
    Vector sum = {};
    const float* row = b + i;
    for (std::size_t k = 0; k < m.product.channels; ++k, row += m.b_row) {
      Vector y = {};
      read_first(y, row, count);
      sum += y * a[k];
    }
    finish<lanes>(sum, i, count);
  }

  template <std::size_t lanes, class Vector>
  [[gnu::always_inline]] void finish(const Vector& sum, std::size_t i, std::size_t count) const {
    Vector more = {}, added = {};
    if (bias) read_first(more, bias + i, count);
    if (m.product.adds) read_first(added, to + i, count);
    write_first(to + i, finished<Vector>(sum * m.scale + more, added, m.product), count);
  }
};

/// All rows; `row`: the first one by all columns.
void multiply_as_it_lies(RowByColumns row) {
  constexpr std::size_t least_columns = 64;
  const DirectConvolution& c = row.m.product;
  const std::size_t whole = round_up(worthwhile / c.channels, least_columns);
  const std::size_t each = std::max(whole, least_columns);
  for (std::size_t i = 0; i < c.pixels(); ++i, row.a += c.channels, row.to += c.outputs)
    in_pieces(c.outputs, each, [&](std::size_t first, std::size_t last) {
      const float* const bias = row.bias ? row.bias + first : nullptr;
      run_in(c.lanes, RowByColumns{row.m, row.a, row.b + first, bias, row.to + first,
                                   last - first});
    });
}

}  // namespace

std::size_t working_size(const MatrixProduct& m) {
  return reads_as_it_lies(m) ? sizeof(float) : packed_size(m.product);
}

void multiply_matrices(const MatrixProduct& m, const MatrixOperands& o) {
  auto* const packed = reinterpret_cast<float*>(o.working);
  const float* now = nullptr;
  float* to = o.result;
  for (const MatrixProduct::Place& place : m.stack) {
    const float *const a = o.a + place.a, *const b = o.b + place.b;
    if (reads_as_it_lies(m)) {
      multiply_as_it_lies({m, a, b, o.bias, to, m.product.outputs});
    } else {
      if (b != now) pack(m, b, packed), now = b;
      convolve(m.product, {a, packed, o.bias, to});
    }
    to += m.product.pixels() * m.product.outputs;
  }
}

}  // namespace millrace::kernels
