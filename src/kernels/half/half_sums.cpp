#include "kernels/half/half_sums.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <array>
#include <cstring>

#include "kernels/activate.h"
#include "kernels/direct/end_of_sums.h"
#include "kernels/float16.h"
#include "kernels/half/half_numbers.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t most_rows = 8;

/// What sums are clipped to, they are clipped to in float16: rounding keeps the order of numbers.
template <std::size_t rows>
class HalfSums {
 public:
  [[gnu::target("arch=armv8.2-a+fp16")]] static void multiply(HalfRows p, std::size_t times) {
    for (; times > 0; --times) {
      multiply_piece(p);
      p.from += rows * p.from_stride;
      p.to += rows * p.to_stride;
      if (p.kept) p.kept += rows * half_panel;
    }
  }

 private:
  [[gnu::target("arch=armv8.2-a+fp16"), gnu::always_inline]] static void multiply_piece(
      const HalfRows& p) {
    float of_blocks[rows * half_panel];
    float* const kept = p.kept ? p.kept : of_blocks;
    const Half *from = p.from, *with = p.with;
    for (std::size_t begin = 0; begin < p.depth; begin += p.block) {
      const std::size_t count = begin + p.block < p.depth ? p.block : p.depth - begin;
      HalfSums sums;
      sums.add_products(p, from, with, count);
      const bool is_first = p.begins && begin == 0;
      const float* const before = is_first ? p.bias : kept;
      const std::size_t stride = is_first ? 0 : half_panel;
      if (p.ends && begin + count == p.depth)
        sums.end(p, before, stride);
      else
        sums.keep(p, before, stride, kept);
      from += count;
      with += count * half_panel;
    }
  }

  [[gnu::target("arch=armv8.2-a+fp16"), gnu::always_inline]] void add_products(
      const HalfRows& p, const Half* from, const Half* with, std::size_t count) {
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) sums_[r][0] = sums_[r][1] = vdupq_n_f16(0);
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
  [[gnu::target("arch=armv8.2-a+fp16"), gnu::always_inline]] void add_lane(
      const float16x8_t (&x)[rows], const Half* with) {
    const float16x8_t left = read_half(with + lane * half_panel);
    const float16x8_t right = read_half(with + lane * half_panel + half_lanes);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) {
      add_product<lane>(sums_[r][0], left, x[r]);
      add_product<lane>(sums_[r][1], right, x[r]);
    }
  }

  /// In assembly: GCC 12 copies a number of x to all of a vector first. It must lie in one of the
  /// first 16 registers. Volatile: else products of one sum follow each other, which waits.
  template <int lane>
  [[gnu::target("arch=armv8.2-a+fp16"), gnu::always_inline]] static void add_product(
      float16x8_t& sum, float16x8_t w, float16x8_t x) {
    asm volatile("fmla %0.8h, %1.8h, %2.h[%3]" : "+w"(sum) : "w"(w), "x"(x), "i"(lane));
  }

  /// The sums of row r in float32, beside what was there before.
  struct Wide {
    float32x4_t at[4];
  };
  [[gnu::target("arch=armv8.2-a+fp16"), gnu::always_inline]] Wide wide(
      std::size_t r, const Wide& scales, const float* before) const {
    Wide y;
#pragma GCC unroll 2
    for (std::size_t v = 0; v < 2; ++v) {
      y.at[2 * v] = vfmaq_f32(vld1q_f32(before + 8 * v), scales.at[2 * v],
                              vcvt_f32_f16(vget_low_f16(sums_[r][v])));
      y.at[2 * v + 1] = vfmaq_f32(vld1q_f32(before + 8 * v + 4), scales.at[2 * v + 1],
                                  vcvt_high_f32_f16(sums_[r][v]));
    }
    return y;
  }
  [[gnu::target("arch=armv8.2-a+fp16"), gnu::always_inline]] static Wide read_wide(
      const float* from) {
    return {{vld1q_f32(from), vld1q_f32(from + 4), vld1q_f32(from + 8), vld1q_f32(from + 12)}};
  }
  [[gnu::target("arch=armv8.2-a+fp16"), gnu::always_inline]] static void write_wide(const Wide& y,
                                                                                   float* to) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) vst1q_f32(to + 4 * i, y.at[i]);
  }

  [[gnu::target("arch=armv8.2-a+fp16"), gnu::always_inline]] void keep(const HalfRows& p,
                                                                      const float* before,
                                                                      std::size_t stride,
                                                                      float* kept) const {
    const Wide scales = read_wide(p.scales);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r)
      write_wide(wide(r, scales, before + r * stride), kept + r * half_panel);
  }

  [[gnu::target("arch=armv8.2-a+fp16"), gnu::always_inline]] void end(const HalfRows& p,
                                                                     const float* before,
                                                                     std::size_t stride) const {
    const Wide scales = read_wide(p.scales);
    const OwnConvolution& c = *p.convolution;
    if (end_of(c) == SumsEnd::other || p.outputs < half_panel) {
      float kept[rows * half_panel];
#pragma GCC unroll 8
      for (std::size_t r = 0; r < rows; ++r)
        write_wide(wide(r, scales, before + r * stride), kept + r * half_panel);
      for (std::size_t r = 0; r < rows; ++r)
        finish_halves(c, kept + r * half_panel, p.to + r * p.to_stride, p.outputs);
      return;
    }
    const float16x8_t low = spread_half(c.activation.low), high = spread_half(c.activation.high);
    Half* to = p.to;
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r, to += p.to_stride) {
      Wide y = wide(r, scales, before + r * stride);
      if (c.adds) add(y, to);
#pragma GCC unroll 2
      for (std::size_t v = 0; v < 2; ++v) {
        const float16x8_t x = narrow(y.at[2 * v], y.at[2 * v + 1]);
        write_half(to + v * half_lanes, vminq_f16(vmaxq_f16(x, low), high));
      }
    }
  }

  [[gnu::target("arch=armv8.2-a+fp16"), gnu::always_inline]] static void add(Wide& y,
                                                                            const Half* from) {
#pragma GCC unroll 2
    for (std::size_t v = 0; v < 2; ++v) {
      const float16x8_t x = read_half(from + v * half_lanes);
      y.at[2 * v] += vcvt_f32_f16(vget_low_f16(x));
      y.at[2 * v + 1] += vcvt_high_f32_f16(x);
    }
  }

  float16x8_t sums_[rows][2];
};

using Multiply = void (*)(HalfRows, std::size_t);
constexpr std::array<Multiply, most_rows> multiplies{
    HalfSums<1>::multiply, HalfSums<2>::multiply, HalfSums<3>::multiply, HalfSums<4>::multiply,
    HalfSums<5>::multiply, HalfSums<6>::multiply, HalfSums<7>::multiply, HalfSums<8>::multiply};

}  // namespace

/// In pieces of about as many rows each: first those that have one more.
void multiply(HalfRows rows, std::size_t count) {
  const std::size_t pieces = divided_up(count, most_rows);
  const std::size_t each = count / pieces, larger = count % pieces;
  if (larger > 0) multiplies[each](rows, larger);
  const std::size_t done = larger * (each + 1);
  rows.from += done * rows.from_stride;
  rows.to += done * rows.to_stride;
  if (rows.kept) rows.kept += done * half_panel;
  multiplies[each - 1](rows, pieces - larger);
}

void finish_halves(const OwnConvolution& c, float* sums, Half* to, std::size_t count) {
  using Vector = LanesOf<4>::Type;
  float added[half_panel] = {};
  Half stored[half_panel] = {};
  const std::size_t whole = round_up(count, half_lanes);
  if (c.adds) {
    std::memcpy(stored, to, count * sizeof(Half));
    for (std::size_t i = 0; i < whole; i += half_lanes) widen_half(stored + i, added + i);
  }
  for (std::size_t i = 0; i < whole; i += 4) {
    Vector x, more;
    read_vector(x, sums + i);
    read_vector(more, added + i);
    write_vector(sums + i, finished(x, more, c));
  }
  for (std::size_t i = 0; i < whole; i += half_lanes) narrow_half(sums + i, stored + i);
  std::memcpy(to, stored, count * sizeof(Half));
}

}  // namespace millrace::kernels
#endif
