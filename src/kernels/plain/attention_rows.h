#pragma once
// Inside attention: what is done to some rows of queries, whichever kernel multiplies.
#include "kernels/plain/attention.h"
#include "kernels/plain/pieces.h"

namespace millrace::kernels {

/// Rows of queries of one matrix, which are worked on together.
struct RowsPlace {
  std::size_t matrix = 0, first = 0, rows = 0;
};

/// Their products with all keys. From `keys` to `whole`, in whole vectors, is room that counts
/// nothing.
struct ProductRows {
  float* numbers;
  std::size_t rows, keys, whole, apart;  // apart: from one row to the next
  const float* mask;                     // null: none
  std::ptrdiff_t mask_row, mask_column;
};
/// Where the mask of these rows lies; `numbers`, `whole` and `apart` are left to be set.
ProductRows product_rows(const Attention& attention, const AttentionOperands& operands,
                         const RowsPlace& place);
/// Adds the mask, and raises e to all numbers less the largest one of their row. `factors`: one
/// over the sums, by row.
void raise_rows(const ProductRows& rows, float* factors);

struct RowsToFill {
  float* numbers;
  std::size_t apart;
};
/// Times the factor of the attention.
void read_queries(const Attention& attention, const AttentionOperands& operands,
                  const RowsPlace& place, RowsToFill to);

/// By row: sums of values, and by what they are still to be multiplied.
struct WeighedSums {
  const float* numbers;
  std::size_t apart;
  const float* factors;
};
void write_results(const Attention& attention, const AttentionOperands& operands,
                   const RowsPlace& place, const WeighedSums& sums);

/// How the rows of all matrices come in blocks, which threads share.
struct RowBlocks {
  std::size_t rows, of_matrix, count;

  RowBlocks(const Attention& attention, std::size_t block_rows)
      : rows(block_rows),
        of_matrix((attention.rows + rows - 1) / rows),
        count(of_matrix * attention.query.begins.size()) {}
  /// How many of the `threads` work, at most.
  std::size_t working(std::size_t threads) const {
    return std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(count, 1));
  }
};

/// `make(i)`: gives what the i-th of the threads works with; its take(matrix) comes before its
/// attend(place) of that matrix.
template <class Make>
void attend_blocks(const Attention& attention, const RowBlocks& blocks, std::size_t threads,
                   const Make& make) {
  threads = std::max<std::size_t>(threads, 1);
  const std::size_t piece = (blocks.count + threads - 1) / threads;
  in_pieces(blocks.count, piece, [&](std::size_t first, std::size_t last) {
    auto worker = make(first / piece);
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t matrix = i / blocks.of_matrix, row = i % blocks.of_matrix * blocks.rows;
      worker.take(matrix);
      worker.attend({matrix, row, std::min(blocks.rows, attention.rows - row)});
    }
  });
}

}  // namespace millrace::kernels
