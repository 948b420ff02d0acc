#include "kernels/half/half_sums.h"

#if defined(__aarch64__) && !defined(__clang__)
#include <arm_neon.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/activate.h"
#include "kernels/lane_products.h"
#include "kernels/float16.h"
#include "kernels/half/half_numbers.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t most_half_rows = 8;

/// What sums are clipped to, they are clipped to in float16: rounding keeps the order of numbers.
/// `vectors`: of outputs, one or two.
template <std::size_t rows, std::size_t vectors>
class HalfSums {
 public:
  static void multiply(HalfRows p, std::size_t times) {
    for (; times > 0; --times) {
      multiply_piece(p);
      p.from += rows * p.from_stride;
      p.to += rows * p.to_stride;
      if (p.kept) p.kept += rows * half_panel;
    }
  }

 private:
  [[gnu::always_inline]] static void multiply_piece(
      const HalfRows& p) {
    HalfSums sums;
    const bool is_only_block = p.begins && p.ends && p.depth <= p.block;
    if (is_only_block && p.is_plain && !p.convolution->adds) {
      sums.add_products(p, p.from, p.with, p.depth);
      return sums.end_in_halves(p);
    }
    float of_blocks[rows * half_panel];
    float* const kept = p.kept ? p.kept : of_blocks;
    const Half *from = p.from, *with = p.with;
    std::size_t left = p.depth;
    if (p.begins && p.bias) begin(p.bias, kept);
    if (p.begins && !p.bias) {
      const std::size_t first = std::min(p.block, p.depth);
      sums.add_products(p, from, with, first);
      sums.put(p, kept);
      from += first;
      with += first * half_panel;
      left -= first;
      if (left == 0) return;
    }
    for (; left > p.block; left -= p.block) {
      sums.add_products(p, from, with, p.block);
      sums.keep(p, kept);
      from += p.block;
      with += p.block * half_panel;
    }
    sums.add_products(p, from, with, left);
    if (p.ends && p.is_plain)
      return p.convolution->adds ? sums.template end<true>(p, kept)
                                 : sums.template end<false>(p, kept);
    sums.keep(p, kept);
    if (p.ends) finish_rows(p, kept);
  }

  [[gnu::always_inline]] static void begin(const float* bias, float* kept) {
    const Wide y = read_wide(bias);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) write_wide(y, kept + r * half_panel);
  }

  [[gnu::always_inline]] void add_products(
      const HalfRows& p, const Half* from, const Half* with, std::size_t count) {
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r)
#pragma GCC unroll 2
      for (std::size_t v = 0; v < vectors; ++v) sums_[r][v] = no_halves();
    for (; count > 0; count -= half_lanes, from += half_lanes, with += half_lanes * half_panel) {
      float16x8_t x[rows];
#pragma GCC unroll 8
      for (std::size_t r = 0; r < rows; ++r) x[r] = read_half(from + r * p.from_stride);
      add_lane<0>(x, with);
      add_lane<1>(x, with);
      add_lane<2>(x, with);
      add_lane<3>(x, with);
      add_lane<4>(x, with);
      add_lane<5>(x, with);
      add_lane<6>(x, with);
      add_lane<7>(x, with);
    }
  }

  template <int lane>
  [[gnu::always_inline]] void add_lane(
      const float16x8_t (&x)[rows], const Half* with) {
    float16x8_t w[vectors];
#pragma GCC unroll 2
    for (std::size_t v = 0; v < vectors; ++v)
      w[v] = read_half(with + lane * half_panel + v * half_lanes);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r)
#pragma GCC unroll 2
      for (std::size_t v = 0; v < vectors; ++v) add_product<lane>(sums_[r][v], w[v], x[r]);
  }

  /// In float32, by output.
  struct Wide {
    float32x4_t at[2 * vectors];
  };
  [[gnu::always_inline]] static Wide read_wide(const float* from) {
    Wide y;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 2 * vectors; ++i) y.at[i] = vld1q_f32(from + 4 * i);
    return y;
  }
  [[gnu::always_inline]] static void write_wide(const Wide& y, float* to) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 2 * vectors; ++i) vst1q_f32(to + 4 * i, y.at[i]);
  }
  /// The sums of row r beside what was there before.
  [[gnu::always_inline]] Wide wide(std::size_t r, const Wide& scales, const float* kept) const {
    Wide y = read_wide(kept + r * half_panel);
#pragma GCC unroll 2
    for (std::size_t v = 0; v < vectors; ++v) {
      y.at[2 * v] = vfmaq_f32(y.at[2 * v], scales.at[2 * v],
                              vcvt_f32_f16(vget_low_f16(sums_[r][v])));
      y.at[2 * v + 1] =
          vfmaq_f32(y.at[2 * v + 1], scales.at[2 * v + 1], vcvt_high_f32_f16(sums_[r][v]));
    }
    return y;
  }

  /// The first sums.
  [[gnu::always_inline]] void put(const HalfRows& p, float* kept) const {
    const Wide scales = read_wide(p.scales);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) {
      Wide y;
#pragma GCC unroll 2
      for (std::size_t v = 0; v < vectors; ++v) {
        y.at[2 * v] = vcvt_f32_f16(vget_low_f16(sums_[r][v])) * scales.at[2 * v];
        y.at[2 * v + 1] = vcvt_high_f32_f16(sums_[r][v]) * scales.at[2 * v + 1];
      }
      write_wide(y, kept + r * half_panel);
    }
  }
  [[gnu::always_inline]] void keep(const HalfRows& p, float* kept) const {
    const Wide scales = read_wide(p.scales);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r)
      write_wide(wide(r, scales, kept), kept + r * half_panel);
  }

  static void finish_rows(const HalfRows& p, float* kept) {
    for (std::size_t r = 0; r < rows; ++r)
      finish_halves(*p.convolution, kept + r * half_panel, p.to + r * p.to_stride, p.outputs);
  }

  /// The only block of products.
  [[gnu::always_inline]] void end_in_halves(
      const HalfRows& p) const {
    const float16x8_t low = spread_half(p.low), high = spread_half(p.high);
    float16x8_t scales[vectors], bias[vectors];
#pragma GCC unroll 2
    for (std::size_t v = 0; v < vectors; ++v) {
      const float *const scale = p.scales + v * half_lanes, *const first = p.bias + v * half_lanes;
      scales[v] = narrow(vld1q_f32(scale), vld1q_f32(scale + 4));
      bias[v] = narrow(vld1q_f32(first), vld1q_f32(first + 4));
    }
    Half* to = p.to;
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r, to += p.to_stride)
#pragma GCC unroll 2
      for (std::size_t v = 0; v < vectors; ++v)
        write_half(to + v * half_lanes,
                   clipped(with_product(bias[v], sums_[r][v], scales[v]), low, high));
  }

  template <bool adds>
  [[gnu::always_inline]] void end(const HalfRows& p,
                                                                     const float* kept) const {
    const Wide scales = read_wide(p.scales);
    const float16x8_t low = spread_half(p.low), high = spread_half(p.high);
    Half* to = p.to;
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r, to += p.to_stride) {
      Wide y = wide(r, scales, kept);
      if constexpr (adds) add(y, to);
#pragma GCC unroll 2
      for (std::size_t v = 0; v < vectors; ++v) {
        const float16x8_t x = narrow(y.at[2 * v], y.at[2 * v + 1]);
        write_half(to + v * half_lanes, clipped(x, low, high));
      }
    }
  }

  [[gnu::always_inline]] static void add(Wide& y, const Half* from) {
#pragma GCC unroll 2
    for (std::size_t v = 0; v < vectors; ++v) {
      const float16x8_t x = read_half(from + v * half_lanes);
      y.at[2 * v] += vcvt_f32_f16(vget_low_f16(x));
      y.at[2 * v + 1] += vcvt_high_f32_f16(x);
    }
  }

  float16x8_t sums_[rows][vectors];
};

using Multiply = void (*)(HalfRows, std::size_t);
template <std::size_t vectors>
constexpr std::array<Multiply, most_half_rows> multiplies{
    HalfSums<1, vectors>::multiply, HalfSums<2, vectors>::multiply, HalfSums<3, vectors>::multiply,
    HalfSums<4, vectors>::multiply, HalfSums<5, vectors>::multiply, HalfSums<6, vectors>::multiply,
    HalfSums<7, vectors>::multiply, HalfSums<8, vectors>::multiply};

}  // namespace

/// In pieces of about as many rows each: first those that have one more.
void multiply(HalfRows rows, std::size_t count) {
  const auto& multiply_some = rows.outputs > half_lanes ? multiplies<2> : multiplies<1>;
  const std::size_t pieces = divided_up(count, most_half_rows);
  const std::size_t each = count / pieces, larger = count % pieces;
  if (larger > 0) multiply_some[each](rows, larger);
  const std::size_t done = larger * (each + 1);
  rows.from += done * rows.from_stride;
  rows.to += done * rows.to_stride;
  if (rows.kept) rows.kept += done * half_panel;
  multiply_some[each - 1](rows, pieces - larger);
}

namespace {

template <class Numbers>
void finish(const OwnConvolution& c, float* sums, Half* to, std::size_t count) {
  using Vector = typename LanesOf<4>::Type;
  float added[half_panel] = {};
  Half stored[half_panel] = {};
  const std::size_t whole = round_up(count, half_lanes);
  if (c.adds) {
    std::memcpy(stored, to, count * sizeof(Half));
    for (std::size_t i = 0; i < whole; i += half_lanes) widen<Numbers>(stored + i, added + i);
  }
  for (std::size_t i = 0; i < whole; i += 4) {
    Vector x, more;
    read_vector(x, sums + i);
    read_vector(more, added + i);
    write_vector(sums + i, finished(x, more, c));
  }
  for (std::size_t i = 0; i < whole; i += half_lanes) narrow_eight<Numbers>(sums + i, stored + i);
  std::memcpy(to, stored, count * sizeof(Half));
}

}  // namespace

void finish_halves(const OwnConvolution& c, float* sums, Half* to, std::size_t count) {
  is_in_bfloats(c) ? finish<Bfloat16Numbers>(c, sums, to, count)
                   : finish<Float16Numbers>(c, sums, to, count);
}

}  // namespace millrace::kernels
#endif
