#include "kernels/plain/row_norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/plain/lanes.h"
#include "kernels/plain/pieces.h"

namespace millrace::kernels {
namespace {

/// The sum of f(x) in four partial sums of vectors.
template <class F>
[[gnu::always_inline]] inline float sum_of_block(const float* x, std::size_t size, const F& f) {
  const std::size_t quarter = size / 4;
  float a = 0, b = 0, c = 0, d = 0;
#if defined(_OPENMP)
#pragma omp simd reduction(+ : a, b, c, d)
#endif
  for (std::size_t i = 0; i < quarter; ++i) {
    a += f(x[i]);
    b += f(x[i + quarter]);
    c += f(x[i + 2 * quarter]);
    d += f(x[i + 3 * quarter]);
  }
  for (std::size_t i = 4 * quarter; i < size; ++i) d += f(x[i]);
  return (a + b) + (c + d);
}

/// Short blocks, so that no partial sum rounds much.
template <class F>
[[gnu::always_inline]] inline double sum_of_row(const float* x, std::size_t size, const F& f) {
  constexpr std::size_t block = 4096;
  double sum = 0;
  for (std::size_t i = 0; i < size; i += block)
    sum += static_cast<double>(sum_of_block(x + i, std::min(block, size - i), f));
  return sum;
}

struct RowMoments {
  float mean = 0, factor = 1;
};

[[gnu::always_inline]] inline RowMoments moments_of(const RowNorm& norm, const float* x) {
  const auto size = static_cast<double>(norm.size);
  RowMoments result;
  if (norm.centred)
    result.mean = static_cast<float>(sum_of_row(x, norm.size, [](float v) { return v; }) / size);
  const float mean = result.mean;
  const double variance =
      sum_of_row(x, norm.size, [mean](float v) { return (v - mean) * (v - mean); }) / size;
  result.factor = static_cast<float>(1 / std::sqrt(variance + static_cast<double>(norm.epsilon)));
  return result;
}

/// Some numbers of a row that is normalised.
struct NormPart {
  const float* from;
  float* to;
  std::size_t size;
};

[[gnu::always_inline]] inline void write_part(const NormPart& part, const RowMoments& m,
                                              float scale, float bias) {
  const auto [x, y, size] = part;
  const float mean = m.mean, factor = m.factor * scale;
  for (std::size_t i = 0; i < size; ++i) y[i] = (x[i] - mean) * factor + bias;
}

/// A scale and a bias for each number.
[[gnu::always_inline]] inline void write_numbers(const NormPart& part, const RowMoments& m,
                                                 const float* scale, const float* bias) {
  const auto [x, y, size] = part;
  const float mean = m.mean, factor = m.factor;
  if (scale && bias)
    for (std::size_t i = 0; i < size; ++i) y[i] = (x[i] - mean) * factor * scale[i] + bias[i];
  else if (scale)
    for (std::size_t i = 0; i < size; ++i) y[i] = (x[i] - mean) * factor * scale[i];
  else
    for (std::size_t i = 0; i < size; ++i) y[i] = (x[i] - mean) * factor + (bias ? bias[i] : 0.f);
}

constexpr std::size_t longest_short_row = 1024;  // whose sums no block needs
constexpr std::size_t rows_at_once = 8;          // so that they do not wait for each other

/// Rows of whole vectors with a scale and a bias for each number, or none.
bool is_short(const RowNorm& norm) {
  return norm.size % lane_count == 0 && norm.size <= longest_short_row && norm.parts == norm.size &&
         norm.period == 1;
}

/// In sixteen sums, however many of them are in a vector.
template <std::size_t lanes, class F>
[[gnu::always_inline]] inline float sum_of_lanes(const float* x, std::size_t size, const F& f) {
  constexpr std::size_t vectors = lane_count / lanes;
  typename LanesOf<lanes>::Type sums[vectors] = {}, next;
  for (std::size_t i = 0; i < size; i += lane_count)
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) {
      read_lanes(next, x + i + v * lanes);
      sums[v] += f(next);
    }
  for (std::size_t half = vectors / 2; half > 0; half /= 2)
    for (std::size_t v = 0; v < half; ++v) sums[v] += sums[v + half];
  return folded(
      sums[0], [](const auto& a, const auto& b) __attribute__((always_inline)) { return a + b; });
}

/// At most `rows_at_once` rows.
template <std::size_t lanes>
[[gnu::always_inline]] inline void write_short_rows(const RowNorm& norm, const RowNormOperands& at,
                                                    std::size_t first, std::size_t rows) {
  RowMoments moments[rows_at_once];
  const float* const x = at.from + first * norm.size;
  const auto size = static_cast<float>(norm.size);
  if (norm.centred)
    for (std::size_t r = 0; r < rows; ++r)
      moments[r].mean = sum_of_lanes<lanes>(
                            x + r * norm.size, norm.size,
                            [](const auto& v) __attribute__((always_inline)) { return v; }) /
                        size;
  for (std::size_t r = 0; r < rows; ++r) {
    const float mean = moments[r].mean;
    const auto square = [mean](const auto& v) __attribute__((always_inline)) {
      return (v - mean) * (v - mean);
    };
    const float variance = sum_of_lanes<lanes>(x + r * norm.size, norm.size, square) / size;
    moments[r].factor = 1.f / std::sqrt(variance + norm.epsilon);
  }
  for (std::size_t r = 0; r < rows; ++r) {
    if (at.means) at.means[first + r] = moments[r].mean;
    if (at.factors) at.factors[first + r] = moments[r].factor;
    write_numbers({x + r * norm.size, at.to + (first + r) * norm.size, norm.size}, moments[r],
                  at.scale, at.bias);
  }
}

struct ShortRowNorm {
  const RowNorm& norm;
  const RowNormOperands& at;
  std::size_t first, last;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    for (; first < last; first += rows_at_once)
      write_short_rows<lanes>(norm, at, first, std::min(rows_at_once, last - first));
  }
};

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void write_normalized_rows(const RowNorm& norm, const RowNormOperands& at, std::size_t first,
                           std::size_t last) {
  const std::size_t part = norm.size / norm.parts;
  for (std::size_t row = first; row < last; ++row) {
    const float* const x = at.from + row * norm.size;
    float* const y = at.to + row * norm.size;
    const RowMoments m = moments_of(norm, x);
    if (at.means) at.means[row] = m.mean;
    if (at.factors) at.factors[row] = m.factor;
    const std::size_t spread = row % norm.period * norm.parts;
    const float* const scale = at.scale ? at.scale + spread : nullptr;
    const float* const bias = at.bias ? at.bias + spread : nullptr;
    if (part == 1) {
      write_numbers({x, y, norm.size}, m, scale, bias);
      continue;
    }
    for (std::size_t p = 0; p < norm.parts; ++p)
      write_part({x + p * part, y + p * part, part}, m, scale ? scale[p] : 1.f,
                 bias ? bias[p] : 0.f);
  }
}

}  // namespace

void normalize_rows(const RowNorm& norm, const RowNormOperands& operands) {
  in_pieces_of_rows(norm.rows, norm.size, [&](std::size_t first, std::size_t last) {
    if (is_short(norm))
      run_in_lanes(ShortRowNorm{norm, operands, first, last});
    else
      write_normalized_rows(norm, operands, first, last);
  });
}

}  // namespace millrace::kernels
