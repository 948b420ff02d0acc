#pragma once
// Inside the loops over rows and columns: some of them at once.
#include <algorithm>
#include <cstddef>

#include "kernels/plain/pieces.h"
#include "kernels/plain/rows.h"

namespace millrace::kernels {

/// Some rows of a tensor, and what comes of them.
template <class Result>
struct RowPiece {
  std::size_t first, last, size;
  const float* from;
  Result* to;
};

inline constexpr std::size_t strip_columns = 512;  // columns whose best numbers are kept at once

/// Columns side by side.
template <class Result>
struct ColumnPiece {
  const float* from;
  Result* to;
  std::size_t count;
};

template <class Result>
struct ColumnTensors {
  const float* from;
  Result* to;
  std::size_t result_rows;  // of a plane
};

/// Calls write(piece) for strips of columns, on all threads.
template <class Result, class Write>
void in_strips(const DenseColumns& columns, const ColumnTensors<Result>& tensors,
               const Write& write) {
  const std::size_t strips = (columns.inner + strip_columns - 1) / strip_columns;
  const auto write_some = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t plane = i / strips, column = i % strips * strip_columns;
      write(ColumnPiece<Result>{tensors.from + plane * columns.size * columns.inner + column,
                                tensors.to + plane * tensors.result_rows * columns.inner + column,
                                std::min(strip_columns, columns.inner - column)});
    }
  };
  in_pieces_of_rows(columns.planes * strips, strip_columns * columns.size, write_some);
}

}  // namespace millrace::kernels
