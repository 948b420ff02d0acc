#pragma once
// Sums, extremes and indices of extremes, each of a row of numbers that lie side by side.
#include <cstddef>
#include <cstdint>

namespace millrace::kernels {

struct DenseRows {
  std::size_t count = 1, size = 1;  // of each
};
// All run on the calling thread and its OpenMP helpers.

/// Columns of `size` numbers: `planes` times `size` rows of `inner` numbers.
struct DenseColumns {
  std::size_t planes = 1, size = 1, inner = 1;
};

enum class RowSum { plain, magnitudes, squares };
/// By row. Exact to a few roundings however long a row is.
void sum_rows(const DenseRows& rows, RowSum kind, const float* from, float* to);

/// By row: the largest number, or the smallest one. Not a number wins.
void extremes_of_rows(const DenseRows& rows, bool smallest, const float* from, float* to);

struct IndexOfExtreme {
  bool smallest = false, last = false;  // of equal ones the last
};
/// By row. What is no number is passed over, unless it comes first: then it wins.
void indices_of_extremes(const DenseRows& rows, const IndexOfExtreme& which, const float* from,
                         std::int64_t* to);
/// The same of columns: a row of indices a plane.
void indices_of_extremes(const DenseColumns& columns, const IndexOfExtreme& which,
                         const float* from, std::int64_t* to);

}  // namespace millrace::kernels
