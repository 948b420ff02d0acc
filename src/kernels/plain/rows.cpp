#include "kernels/plain/rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/plain/exponentials.h"
#include "kernels/plain/lanes.h"
#include "kernels/plain/pieces.h"

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

/// Some rows of a tensor, and what comes of them.
template <class Result>
struct RowPiece {
  std::size_t first, last, size;
  const float* from;
  Result* to;
};

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

/// A row in whole vectors: the last one is filled up with what adds nothing to a softmax.
class PaddedRow {
 public:
  explicit PaddedRow(std::size_t size)
      : whole_(size / lane_count * lane_count), rest_(size - whole_), powers_(whole_ + lane_count) {
    last_.fill(-infinite);
  }

  [[gnu::always_inline]] float take_largest(const float* x) {
    x_ = x;
    for (std::size_t i = 0; i < rest_; ++i) last_[i] = x[whole_ + i];
    Lanes largest, next;
    read_lanes(largest, last_.data());
    for (std::size_t i = 0; i < whole_; i += lane_count) {
      read_lanes(next, x + i);
      largest = next > largest ? next : largest;
    }
    return folded(largest, [](const auto& a, const auto& b) { return a > b ? a : b; });
  }
  /// Of all numbers less the largest one.
  [[gnu::always_inline]] float add_powers(float largest) {
    Lanes sum, next;
    write_powers(last_.data(), largest, powers_.data() + whole_);
    read_lanes(sum, powers_.data() + whole_);
    for (std::size_t i = 0; i < whole_; i += lane_count) {
      write_powers(x_ + i, largest, powers_.data() + i);
      read_lanes(next, powers_.data() + i);
      sum += next;
    }
    return folded(sum, [](const auto& a, const auto& b) { return a + b; });
  }
  [[gnu::always_inline]] void write_scaled(float factor, float* y) const {
    const std::size_t size = whole_ + rest_;
    for (std::size_t i = 0; i < size; ++i) y[i] = powers_[i] * factor;
  }

 private:
  [[gnu::always_inline]] static void write_powers(const float* x, float largest,
                                                  float* __restrict to) {
    for (std::size_t i = 0; i < lane_count; ++i) to[i] = exponential(x[i] - largest);
  }

  std::size_t whole_, rest_;
  std::vector<float> powers_;
  std::array<float, lane_count> last_;
  const float* x_ = nullptr;
};

/// Rows shorter than a vector: sixteen of them at once, a row in each lane.
class ShortRows {
 public:
  explicit ShortRows(std::size_t size) : size_(size) {}

  [[gnu::always_inline]] void write_softmax(const float* x, std::size_t rows, bool logarithm,
                                            float* y) {
    read(x, rows);
    std::array<float, lane_count> largest = numbers_[0], sums{};
    for (std::size_t i = 1; i < size_; ++i)
      for (std::size_t l = 0; l < lane_count; ++l)
        largest[l] = numbers_[i][l] > largest[l] ? numbers_[i][l] : largest[l];
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t l = 0; l < lane_count; ++l) {
        numbers_[i][l] -= largest[l];
        powers_[i][l] = exponential(numbers_[i][l]);
        sums[l] += powers_[i][l];
      }
    for (std::size_t l = 0; l < lane_count; ++l)
      sums[l] = logarithm ? std::log(sums[l]) : 1.f / sums[l];
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t i = 0; i < size_; ++i)
        y[r * size_ + i] = logarithm ? numbers_[i][r] - sums[r] : powers_[i][r] * sums[r];
  }

 private:
  /// Rows that are not there stay as they were.
  [[gnu::always_inline]] void read(const float* x, std::size_t rows) {
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t i = 0; i < size_; ++i) numbers_[i][r] = x[r * size_ + i];
  }

  std::size_t size_;
  std::array<std::array<float, lane_count>, lane_count> numbers_{}, powers_{};
};

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void write_short_softmax(const RowPiece<float>& p, bool logarithm) {
  ShortRows rows(p.size);
  for (std::size_t row = p.first; row < p.last; row += lane_count)
    rows.write_softmax(p.from + row * p.size, std::min(lane_count, p.last - row), logarithm,
                       p.to + row * p.size);
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void write_softmax(const RowPiece<float>& p, bool logarithm) {
  PaddedRow padded(p.size);
  for (std::size_t row = p.first; row < p.last; ++row) {
    const float* const x = p.from + row * p.size;
    float* const y = p.to + row * p.size;
    const float largest = padded.take_largest(x);
    const float sum = padded.add_powers(largest);
    if (logarithm) {
      const float less = std::log(sum);
      for (std::size_t i = 0; i < p.size; ++i) y[i] = x[i] - largest - less;
    } else {
      padded.write_scaled(1.f / sum, y);
    }
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

constexpr std::size_t strip = 512;  // columns whose best numbers are kept at once

/// Columns side by side.
struct ColumnPiece {
  const float* from;
  std::int64_t* to;
  std::size_t count;
};

/// The best number so far is compared with its sign turned if the smallest is looked for.
template <bool last>
[[gnu::always_inline]] inline void best_of_columns(const DenseColumns& columns,
                                                   const ColumnPiece& piece, float sign) {
  std::array<float, strip> best;
  std::array<std::int32_t, strip> index;
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
void write_indices_of_columns(const DenseColumns& columns, const ColumnPiece& piece,
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

void softmax_rows(const DenseRows& rows, bool logarithm, const float* from, float* to) {
  in_pieces_of_rows(rows.count, rows.size, [&](std::size_t first, std::size_t last) {
    const RowPiece<float> piece{first, last, rows.size, from, to};
    if (rows.size < lane_count)
      write_short_softmax(piece, logarithm);
    else
      write_softmax(piece, logarithm);
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
  const std::size_t strips = (columns.inner + strip - 1) / strip;
  const auto write = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t plane = i / strips, column = i % strips * strip;
      const ColumnPiece piece{from + plane * columns.size * columns.inner + column,
                              to + plane * columns.inner + column,
                              std::min(strip, columns.inner - column)};
      write_indices_of_columns(columns, piece, which);
    }
  };
  in_pieces_of_rows(columns.planes * strips, strip * columns.size, write);
}

}  // namespace millrace::kernels
