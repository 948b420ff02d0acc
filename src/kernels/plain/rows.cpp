#include "kernels/plain/rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/plain/pieces.h"
#include "kernels/plain/strips.h"

namespace millrace::kernels {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

template <class F>
[[gnu::always_inline]] inline float total_of(const float* x, std::size_t size, const F& f) {
  constexpr std::size_t block = 4096;  // so that no partial sum rounds much
  double total = 0;
  for (std::size_t first = 0; first < size; first += block) {
    const std::size_t count = std::min(block, size - first);
    const float* const from = x + first;
    float sum = 0;
#if defined(_OPENMP)
#pragma omp simd reduction(+ : sum)
#endif
    for (std::size_t i = 0; i < count; ++i) sum += f(from[i]);
    total += static_cast<double>(sum);
  }
  return static_cast<float>(total);
}

/// Without what is no number; `others` then counts such.
[[gnu::always_inline]] inline float largest_of(const float* x, std::size_t size, int& others) {
  float largest = -infinite;
  int none = 0;
#if defined(_OPENMP)
#pragma omp simd reduction(max : largest) reduction(+ : none)
#endif
  for (std::size_t i = 0; i < size; ++i) {
    largest = x[i] > largest ? x[i] : largest;
    none += x[i] != x[i] ? 1 : 0;
  }
  others = none;
  return largest;
}

[[gnu::always_inline]] inline float smallest_of(const float* x, std::size_t size, int& others) {
  float smallest = infinite;
  int none = 0;
#if defined(_OPENMP)
#pragma omp simd reduction(min : smallest) reduction(+ : none)
#endif
  for (std::size_t i = 0; i < size; ++i) {
    smallest = x[i] < smallest ? x[i] : smallest;
    none += x[i] != x[i] ? 1 : 0;
  }
  others = none;
  return smallest;
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void write_sums(const RowPiece<float>& p, RowSum kind) {
  for (std::size_t row = p.first; row < p.last; ++row) {
    const float* const x = p.from + row * p.size;
    switch (kind) {
      case RowSum::plain:
        p.to[row] = total_of(x, p.size, [](float v) { return v; });
        break;
      case RowSum::magnitudes:
        p.to[row] = total_of(x, p.size, [](float v) { return std::abs(v); });
        break;
      case RowSum::squares:
        p.to[row] = total_of(x, p.size, [](float v) { return v * v; });
        break;
    }
  }
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void write_extremes(const RowPiece<float>& p, bool smallest) {
  for (std::size_t row = p.first; row < p.last; ++row) {
    const float* const x = p.from + row * p.size;
    int others = 0;
    const float found = smallest ? smallest_of(x, p.size, others) : largest_of(x, p.size, others);
    p.to[row] = others > 0 ? std::numeric_limits<float>::quiet_NaN() : found;
  }
}

std::int64_t first_equal(const float* x, std::size_t size, float value) {
  for (std::size_t i = 0; i < size; ++i)
    if (x[i] == value) return static_cast<std::int64_t>(i);
  return 0;
}
std::int64_t last_equal(const float* x, std::size_t size, float value) {
  for (std::size_t i = size; i-- > 0;)
    if (x[i] == value) return static_cast<std::int64_t>(i);
  return 0;
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void write_indices(const RowPiece<std::int64_t>& p, const IndexOfExtreme& which) {
  for (std::size_t row = p.first; row < p.last; ++row) {
    const float* const x = p.from + row * p.size;
    int others = 0;
    const float found =
        which.smallest ? smallest_of(x, p.size, others) : largest_of(x, p.size, others);
    if (x[0] != x[0])
      p.to[row] = 0;
    else
      p.to[row] = which.last ? last_equal(x, p.size, found) : first_equal(x, p.size, found);
  }
}

/// The best number so far is compared with its sign turned if the smallest is looked for.
template <bool last>
[[gnu::always_inline]] inline void best_of_columns(const DenseColumns& columns,
                                                   const ColumnPiece<std::int64_t>& piece,
                                                   float sign) {
  std::array<float, strip_columns> best;
  std::array<std::int32_t, strip_columns> index;
  for (std::size_t c = 0; c < piece.count; ++c) {
    best[c] = sign * piece.from[c];
    index[c] = 0;
  }
  for (std::size_t r = 1; r < columns.size; ++r) {
    const float* const x = piece.from + r * columns.inner;
    const auto number = static_cast<std::int32_t>(r);
    for (std::size_t c = 0; c < piece.count; ++c) {
      const float value = sign * x[c];
      const bool better = last ? value >= best[c] : value > best[c];
      best[c] = better ? value : best[c];
      index[c] = better ? number : index[c];
    }
  }
  for (std::size_t c = 0; c < piece.count; ++c) piece.to[c] = index[c];
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void write_indices_of_columns(const DenseColumns& columns, const ColumnPiece<std::int64_t>& piece,
                              const IndexOfExtreme& which) {
  const float sign = which.smallest ? -1.f : 1.f;
  if (which.last)
    best_of_columns<true>(columns, piece, sign);
  else
    best_of_columns<false>(columns, piece, sign);
}

}  // namespace

void sum_rows(const DenseRows& rows, RowSum kind, const float* from, float* to) {
  in_pieces_of_rows(rows.count, rows.size, [&](std::size_t first, std::size_t last) {
    write_sums({first, last, rows.size, from, to}, kind);
  });
}

void extremes_of_rows(const DenseRows& rows, bool smallest, const float* from, float* to) {
  in_pieces_of_rows(rows.count, rows.size, [&](std::size_t first, std::size_t last) {
    write_extremes({first, last, rows.size, from, to}, smallest);
  });
}

void indices_of_extremes(const DenseRows& rows, const IndexOfExtreme& which, const float* from,
                         std::int64_t* to) {
  in_pieces_of_rows(rows.count, rows.size, [&](std::size_t first, std::size_t last) {
    write_indices({first, last, rows.size, from, to}, which);
  });
}

void indices_of_extremes(const DenseColumns& columns, const IndexOfExtreme& which,
                         const float* from, std::int64_t* to) {
  in_strips(columns, ColumnTensors<std::int64_t>{from, to, 1},
            [&](const auto& piece) { write_indices_of_columns(columns, piece, which); });
}

}  // namespace millrace::kernels
