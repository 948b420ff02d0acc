#include "kernels/plain/softmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/plain/exponentials.h"
#include "kernels/plain/lanes.h"
#include "kernels/plain/pieces.h"
#include "kernels/plain/smooth.h"
#include "kernels/plain/strips.h"

namespace millrace::kernels {
namespace {

/// exp(x) for x <= 0; 0 below -87.
template <class Vector>
[[gnu::always_inline]] inline Vector exponential_of_less(const Vector& x) {
  const Vector small = x == x ? Vector{} : x;
  return x >= -87.f ? ordinary_exponential(x) : small;
}

/// Rows of a vector or more, some at once: their numbers less the largest of the row, and the
/// exponentials of all of these side by side. A row's last vector may begin inside of the one
/// before.
template <std::size_t lanes>
class LongRows {
 public:
  explicit LongRows(std::size_t size)
      : size_(size),
        together_(std::max<std::size_t>(1024 / size, 1)),
        less_(together_ * size + lanes),
        powers_(less_.size()) {
    for (std::size_t i = 0; i < size % lanes; ++i) rest_[lanes - 1 - i] = 1;
  }

  std::size_t together() const { return together_; }

  [[gnu::always_inline]] void write_softmax(const float* x, std::size_t rows, bool logarithm,
                                            float* y) {
    for (std::size_t r = 0; r < rows; ++r) write_less(x + r * size_, less_.data() + r * size_);
    for (std::size_t i = 0; i < rows * size_; i += lanes) {
      Vector less;
      read_lanes(less, less_.data() + i);
      const Vector power = exponential_of_less(less);
      __builtin_memcpy(powers_.data() + i, &power, sizeof power);
    }
    const float* const powers = powers_.data();
    for (std::size_t r = 0; r < rows; ++r) {
      const float sum = sum_of(powers + r * size_);
      if (logarithm)
        write_vectors(less_.data() + r * size_, 1, -std::log(sum), y + r * size_);
      else
        write_vectors(powers + r * size_, 1 / sum, 0, y + r * size_);
    }
  }

 private:
  using Vector = typename LanesOf<lanes>::Type;

  /// f(first) for vectors that cover a row.
  template <class F>
  [[gnu::always_inline]] void for_vectors(const F& f) const {
    std::size_t i = 0;
    for (; i + lanes <= size_; i += lanes) f(i);
    if (i < size_) f(size_ - lanes);
  }

  [[gnu::always_inline]] void write_less(const float* x, float* to) const {
    Vector largest, next;
    read_lanes(largest, x);
    for_vectors([&](std::size_t i) __attribute__((always_inline)) {
      read_lanes(next, x + i);
      largest = next > largest ? next : largest;
    });
    const float most = folded(
        largest,
        [](const auto& a, const auto& b) __attribute__((always_inline)) { return a > b ? a : b; });
    for_vectors([&](std::size_t i) __attribute__((always_inline)) {
      read_lanes(next, x + i);
      next -= most;
      __builtin_memcpy(to + i, &next, sizeof next);
    });
  }

  [[gnu::always_inline]] float sum_of(const float* powers) const {
    Vector sum, next, rest;
    read_lanes(sum, powers);
    std::size_t i = lanes;
    for (; i + lanes <= size_; i += lanes) {
      read_lanes(next, powers + i);
      sum += next;
    }
    if (i < size_) {
      read_lanes(next, powers + size_ - lanes);
      read_lanes(rest, rest_.data());
      sum += rest > 0 ? next : Vector{};
    }
    return folded(
        sum, [](const auto& a, const auto& b) __attribute__((always_inline)) { return a + b; });
  }

  [[gnu::always_inline]] void write_vectors(const float* from, float factor, float shift,
                                            float* to) const {
    for_vectors([&](std::size_t i) __attribute__((always_inline)) {
      Vector x;
      read_lanes(x, from + i);
      x = x * factor + shift;
      __builtin_memcpy(to + i, &x, sizeof x);
    });
  }

  std::size_t size_, together_;
  std::vector<float> less_, powers_;
  std::array<float, lanes> rest_{};  // which numbers of the last vector are in no other
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

struct LongSoftmax {
  RowPiece<float> p;
  bool logarithm;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    LongRows<lanes> rows(p.size);
    for (std::size_t row = p.first; row < p.last; row += rows.together())
      rows.write_softmax(p.from + row * p.size, std::min(rows.together(), p.last - row), logarithm,
                         p.to + row * p.size);
  }
};

/// Row by row, a strip of them in vectors.
struct ColumnSoftmax {
  const DenseColumns& columns;
  const ColumnPiece<float>& piece;
  bool logarithm;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    using Vector = typename LanesOf<lanes>::Type;
    std::array<float, strip_columns> largest, sums{};
    std::copy_n(piece.from, piece.count, largest.begin());
    for (std::size_t r = 1; r < columns.size; ++r)
      for (std::size_t c = 0; c < piece.count; c += lanes) {
        const Vector x = get<Vector>(piece.from + r * columns.inner, c);
        const Vector most = get<Vector>(largest.data(), c);
        put<Vector>(x > most ? x : most, largest.data(), c);
      }
    for (std::size_t r = 0; r < columns.size; ++r)
      for (std::size_t c = 0; c < piece.count; c += lanes) {
        const Vector less =
            get<Vector>(piece.from + r * columns.inner, c) - get<Vector>(largest.data(), c);
        const Vector power = exponential_of_less(less);
        put<Vector>(get<Vector>(sums.data(), c) + power, sums.data(), c);
        put<Vector>(logarithm ? less : power, piece.to + r * columns.inner, c);
      }
    for (std::size_t c = 0; c < piece.count; ++c)
      sums[c] = logarithm ? std::log(sums[c]) : 1.f / sums[c];
    for (std::size_t r = 0; r < columns.size; ++r)
      for (std::size_t c = 0; c < piece.count; c += lanes) {
        float* const y = piece.to + r * columns.inner;
        const Vector x = get<Vector>(y, c), by = get<Vector>(sums.data(), c);
        put<Vector>(logarithm ? x - by : x * by, y, c);
      }
  }

 private:
  template <class Vector>
  [[gnu::always_inline]] std::size_t bytes_at(std::size_t c) const {
    return std::min(sizeof(Vector), (piece.count - c) * sizeof(float));
  }
  /// From the c-th number of a row on; zeros behind its end.
  template <class Vector>
  [[gnu::always_inline]] Vector get(const float* row, std::size_t c) const {
    Vector result = {};
    if (bytes_at<Vector>(c) == sizeof(Vector))
      __builtin_memcpy(&result, row + c, sizeof(Vector));
    else
      __builtin_memcpy(&result, row + c, bytes_at<Vector>(c));
    return result;
  }
  template <class Vector>
  [[gnu::always_inline]] void put(const Vector& x, float* row, std::size_t c) const {
    if (bytes_at<Vector>(c) == sizeof(Vector))
      __builtin_memcpy(row + c, &x, sizeof(Vector));
    else
      __builtin_memcpy(row + c, &x, bytes_at<Vector>(c));
  }
};

}  // namespace

void softmax_rows(const DenseRows& rows, bool logarithm, const float* from, float* to) {
  in_pieces_of_rows(rows.count, rows.size, [&](std::size_t first, std::size_t last) {
    const RowPiece<float> piece{first, last, rows.size, from, to};
    if (rows.size < lane_count)
      write_short_softmax(piece, logarithm);
    else
      run_in_lanes(LongSoftmax{piece, logarithm});
  });
}

void softmax_columns(const DenseColumns& columns, bool logarithm, const float* from, float* to) {
  in_strips(columns, ColumnTensors<float>{from, to, columns.size}, [&](const auto& piece) {
    run_in_lanes(ColumnSoftmax{columns, piece, logarithm});
  });
}

}  // namespace millrace::kernels
