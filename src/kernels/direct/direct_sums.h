#pragma once
// Inside direct_convolution.h: some rows, each the numbers under a pixel's windows, times a panel
// of weights, two vectors of outputs wide. By functions that are inlined only.
#include <cstddef>

#include "kernels/direct/end_of_sums.h"

namespace millrace::kernels {

struct PanelRows {
  const float* from;
  std::size_t from_stride;  // from row to row
  std::size_t depth;        // numbers of a row: a multiple of 4
  const float* with;        // the panel: two vectors for each number of a row
  const float* bias;        // two vectors; null: none
  const float* before;      // what the sums begin with beside that; null: nothing
  std::size_t before_stride;
  float* to;
  std::size_t to_stride;
  SumsEnd end;
  const OwnConvolution* convolution;
};

/// Rows that the registers hold with two vectors of sums each, beside factors.
template <std::size_t lanes>
constexpr std::size_t rows_at_once() {
#if defined(__x86_64__)
  return lanes == lane_count ? 12 : 6;
#else
  return 8;
#endif
}

template <std::size_t lanes, std::size_t rows>
class DirectSums {
 public:
  using Vector = typename LanesOf<lanes>::Type;

  /// So many times, going on to the next rows.
  [[gnu::always_inline]] static void multiply(PanelRows p, std::size_t times) {
    for (; times > 0; --times) {
      DirectSums sums;
      sums.begin(p);
      const float *from = p.from, *with = p.with;
      for (std::size_t k = 0; k < p.depth; k += 4, from += 4, with += 8 * lanes)
        sums.add_products(p, from, with);
      sums.end(p);
      p.from += rows * p.from_stride;
      p.to += rows * p.to_stride;
      p.before += p.before ? rows * p.before_stride : 0;
    }
  }

 private:
  [[gnu::always_inline]] void begin(const PanelRows& p) {
    Vector bias[2] = {};
    if (p.bias) {
      read_vector(bias[0], p.bias);
      read_vector(bias[1], p.bias + lanes);
    }
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) sums_[r][0] = bias[0], sums_[r][1] = bias[1];
    if (!p.before) return;
    const float* before = p.before;
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r, before += p.before_stride)
#pragma GCC unroll 2
      for (std::size_t v = 0; v < 2; ++v) {
        Vector x;
        read_vector(x, before + v * lanes);
        sums_[r][v] += x;
      }
  }

  /// Adds the products of 4 numbers of each row.
  [[gnu::always_inline]] void add_products(const PanelRows& p, const float* from,
                                           const float* with) {
#if defined(__aarch64__)
    Vector x[rows];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) read_vector(x[r], from + r * p.from_stride);
    add_lane<0>(x, with);
    add_lane<1>(x, with + 2 * lanes);
    add_lane<2>(x, with + 4 * lanes);
    add_lane<3>(x, with + 6 * lanes);
#else
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k, with += 2 * lanes) {
      Vector w[2];
      read_vector(w[0], with);
      read_vector(w[1], with + lanes);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < rows; ++r) {
        const Vector x = from[r * p.from_stride + k] - Vector{};
        sums_[r][0] += w[0] * x;
        sums_[r][1] += w[1] * x;
      }
    }
#endif
  }

#if defined(__aarch64__)
  template <int lane>
  [[gnu::always_inline]] void add_lane(const Vector (&x)[rows], const float* with) {
    Vector w[2];
    read_vector(w[0], with);
    read_vector(w[1], with + lanes);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) {
      add_product<lane>(sums_[r][0], w[0], x[r]);
      add_product<lane>(sums_[r][1], w[1], x[r]);
    }
  }
#endif

  [[gnu::always_inline]] void end(const PanelRows& p) {
    if (p.end == SumsEnd::other) return finish(p);
    if (p.end == SumsEnd::clips) clip_all(p.convolution->activation);
    if (p.end == SumsEnd::clips_below) clip_below(p.convolution->activation.low);
    write(p.to, p.to_stride);
  }

  [[gnu::always_inline]] void write(float* to, std::size_t stride) const {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r, to += stride) {
      write_vector(to, sums_[r][0]);
      write_vector(to + lanes, sums_[r][1]);
    }
  }

  [[gnu::always_inline]] void clip_all(const Activation& activation) {
    const Vector low = activation.low - Vector{}, high = activation.high - Vector{};
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) {
      clip(sums_[r][0], low, high);
      clip(sums_[r][1], low, high);
    }
  }

  [[gnu::always_inline]] void clip_below(float low) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) {
      clip_below_at(sums_[r][0], low - Vector{});
      clip_below_at(sums_[r][1], low - Vector{});
    }
  }

  [[gnu::always_inline]] void finish(const PanelRows& p) const {
    float kept[rows * 2 * lanes];
    write(kept, 2 * lanes);
    FinishedRows<Vector>{*p.convolution, rows, 2}.write(kept, p.to, p.to_stride);
  }

  Vector sums_[rows][2];
};

}  // namespace millrace::kernels
