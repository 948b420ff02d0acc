#include "kernels/half/half_sums.h"

#if defined(__aarch64__) && !defined(__clang__)
#include <arm_neon.h>

#include <algorithm>
#include <array>

#include "kernels/half/half_numbers.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t most_row_pairs = 4;  // whose sums with eight outputs fit into registers
constexpr std::size_t at_once = 4;         // products that are added to each of four sums
constexpr std::size_t output_pairs = 4;    // at once: of half a panel

/// Two rows of four numbers each, times two outputs: [row 0, output 0], [row 0, output 1],
/// [row 1, output 0], [row 1, output 1]. By value: GCC 12 keeps in memory what assembly gets by
/// reference.
[[gnu::always_inline]] inline float32x4_t with_squares(float32x4_t sums, float16x8_t rows,
                                                       float16x8_t outputs) {
  asm volatile(".arch_extension bf16\n\tbfmmla %0.4s, %1.8h, %2.8h"
               : "+w"(sums)
               : "w"(rows), "w"(outputs));
  return sums;
}

/// Numbers 0 to 3, or 4 to 7, of two rows side by side.
[[gnu::always_inline]] inline float16x8_t first_halves(float16x8_t a, float16x8_t b) {
  return vreinterpretq_f16_u64(vzip1q_u64(vreinterpretq_u64_f16(a), vreinterpretq_u64_f16(b)));
}
[[gnu::always_inline]] inline float16x8_t last_halves(float16x8_t a, float16x8_t b) {
  return vreinterpretq_f16_u64(vzip2q_u64(vreinterpretq_u64_f16(a), vreinterpretq_u64_f16(b)));
}
[[gnu::always_inline]] inline float32x4_t first_halves(float32x4_t a, float32x4_t b) {
  return vreinterpretq_f32_f64(vzip1q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}
[[gnu::always_inline]] inline float32x4_t last_halves(float32x4_t a, float32x4_t b) {
  return vreinterpretq_f32_f64(vzip2q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}

/// Sums of half a panel. The last row of a piece with an odd number of them is multiplied twice.
template <std::size_t pairs>
class BfloatSums {
 public:
  static void multiply(HalfRows p, std::size_t rows) {
    for (; rows > 0; rows -= std::min(rows, 2 * pairs)) {
      const std::size_t some = std::min(rows, 2 * pairs);
      BfloatSums sums;
      sums.add_products(p, some);
      sums.end(p, some);
      p.from += some * p.from_stride;
      p.to += some * p.to_stride;
      if (p.kept) p.kept += some * half_panel;
    }
  }

 private:
  [[gnu::always_inline]] void add_products(const HalfRows& p, std::size_t rows) {
    clear();
    const std::size_t last = (rows % 2 == 0 ? 1 : 0) * p.from_stride;
    const Half *from = p.from, *with = p.with;
    for (std::size_t k = 0; k < p.depth; k += 2 * at_once, from += 2 * at_once) {
      float16x8_t a[pairs], b[pairs];
#pragma GCC unroll 4
      for (std::size_t r = 0; r < pairs; ++r) {
        const Half* const row = from + 2 * r * p.from_stride;
        const float16x8_t x = read_half(row);
        const float16x8_t y = read_half(row + (r + 1 == pairs ? last : p.from_stride));
        a[r] = first_halves(x, y);
        b[r] = last_halves(x, y);
      }
      add_four(a, with);
      add_four(b, with + at_once * half_panel);
      with += 2 * at_once * half_panel;
    }
  }

  template <std::size_t q = 0>
  [[gnu::always_inline]] void add_four(const float16x8_t (&rows)[pairs], const Half* with) {
    const float16x8_t w = read_half(with + q * half_lanes);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < pairs; ++r) sums_[q][r] = with_squares(sums_[q][r], rows[r], w);
    if constexpr (q + 1 < output_pairs) add_four<q + 1>(rows, with);
  }

  template <std::size_t q = 0>
  [[gnu::always_inline]] void clear() {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < pairs; ++r) sums_[q][r] = vdupq_n_f32(0);
    if constexpr (q + 1 < output_pairs) clear<q + 1>();
  }

  /// By row and output.
  template <std::size_t q = 0>
  [[gnu::always_inline]] void write_wide(float* to) const {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < pairs; ++r) {
      float* const row = to + 2 * r * half_lanes + 2 * q;
      vst1q_f32(row, first_halves(sums_[q][r], sums_[q + 1][r]));
      vst1q_f32(row + half_lanes, last_halves(sums_[q][r], sums_[q + 1][r]));
    }
    if constexpr (q + 2 < output_pairs) write_wide<q + 2>(to);
  }

  [[gnu::always_inline]] void end(const HalfRows& p, std::size_t rows) const {
    float sums[2 * pairs * half_lanes];
    write_wide(sums);
    for (std::size_t r = 0; r < rows; ++r) end_row(p, r, sums + r * half_lanes);
  }

  [[gnu::always_inline]] static void end_row(const HalfRows& p, std::size_t r, float* sums) {
    float* const kept = p.kept ? p.kept + r * half_panel : nullptr;
    const float* const before = p.begins ? p.bias : kept;
    Half* const to = p.to + r * p.to_stride;
    if (p.ends && p.is_plain) return write(p, sums, before, to);
#pragma GCC unroll 2
    for (std::size_t q = 0; q < output_pairs / 2; ++q) {
      float32x4_t y = vld1q_f32(sums + 4 * q);
      if (before) y += vld1q_f32(before + 4 * q);
      vst1q_f32((p.ends ? sums : kept) + 4 * q, y);
    }
    if (p.ends) finish_halves(*p.convolution, sums, to, p.outputs);
  }

  [[gnu::always_inline]] static void write(const HalfRows& p, const float* sums,
                                           const float* before, Half* to) {
    const float32x4_t low = vdupq_n_f32(p.low), high = vdupq_n_f32(p.high);
    float32x4_t y = vld1q_f32(sums), z = vld1q_f32(sums + 4);
    if (before) y += vld1q_f32(before), z += vld1q_f32(before + 4);
    if (p.convolution->adds) {
      const float16x8_t x = read_half(to);
      y += low_of_bfloats(x);
      z += high_of_bfloats(x);
    }
    write_half(to, narrow_to_bfloats(clipped(y, low, high), clipped(z, low, high)));
  }

  float32x4_t sums_[output_pairs][pairs];  // by two outputs and two rows
};

using Multiply = void (*)(HalfRows, std::size_t);
constexpr std::array<Multiply, most_row_pairs> by_pairs{
    BfloatSums<1>::multiply, BfloatSums<2>::multiply, BfloatSums<3>::multiply,
    BfloatSums<4>::multiply};

/// Pieces of as many rows as fit, and a smaller one in the end.
void multiply_half_panel(HalfRows rows, std::size_t count) {
  const std::size_t whole = count / (2 * most_row_pairs) * (2 * most_row_pairs);
  if (whole > 0) by_pairs[most_row_pairs - 1](rows, whole);
  if (whole == count) return;
  rows.from += whole * rows.from_stride;
  rows.to += whole * rows.to_stride;
  if (rows.kept) rows.kept += whole * half_panel;
  by_pairs[divided_up(count - whole, 2) - 1](rows, count - whole);
}

}  // namespace

void multiply_bfloats(HalfRows rows, std::size_t count) {
  const std::size_t outputs = rows.outputs;
  rows.outputs = std::min(outputs, half_lanes);
  multiply_half_panel(rows, count);
  if (outputs <= half_lanes) return;
  rows.outputs = outputs - half_lanes;
  rows.with += output_pairs * half_lanes;
  if (rows.bias) rows.bias += half_lanes;
  if (rows.kept) rows.kept += half_lanes;
  rows.to += half_lanes;
  multiply_half_panel(rows, count);
}

}  // namespace millrace::kernels
#endif
