// Panels of 8 outputs. Rows of bytes are read 16 at once, and each four of them are multiplied with
// those weights of all outputs.
#include "kernels/quads/unit_loops.h"

#if defined(__aarch64__)
#include <arm_neon.h>

namespace millrace::kernels {
namespace {

constexpr std::size_t quad_size = 32;  // of a panel, for four bytes of a row

[[gnu::always_inline]] inline int8x16_t bytes_at(const void* from) {
  return vld1q_s8(static_cast<const std::int8_t*>(from));
}

/// Rows and where their sums go. The rest of the loops has no branches.
template <std::size_t rows>
struct NeonSums {
  int32x4_t sums[rows][2];

  [[gnu::always_inline]] explicit NeonSums(const std::int32_t* starts) {
    const int32x4_t first = vld1q_s32(starts), second = vld1q_s32(starts + 4);
#pragma GCC unroll 10
    for (std::size_t r = 0; r < rows; ++r) sums[r][0] = first, sums[r][1] = second;
  }
  [[gnu::always_inline]] void write(const PanelProduct& p) const {
    std::int32_t* to = p.sums;
    const std::size_t apart = p.sum_apart;
#pragma GCC unroll 10
    for (std::size_t r = 0; r < rows; ++r, to += apart) {
      vst1q_s32(to, sums[r][0]);
      vst1q_s32(to + 4, sums[r][1]);
    }
  }
};

/// Two products as halfwords, and their sum: 2 * 128 * 127 < 2^15.
struct ByHalfwords {
  static constexpr std::size_t most_rows = 8;

  template <std::size_t rows>
  static void multiply(const PanelProduct& p) {
    NeonSums<rows> all(p.starts);
    const std::byte* weights = p.panel;
    for (std::size_t k = 0; k < p.depth; k += 16, weights += 4 * quad_size) {
      int8x16_t x[rows];
#pragma GCC unroll 10
      for (std::size_t r = 0; r < rows; ++r) x[r] = bytes_at(p.rows + r * p.row_apart + k);
      add_quad<0>(all, x, weights);
      add_quad<1>(all, x, weights + quad_size);
      add_quad<2>(all, x, weights + 2 * quad_size);
      add_quad<3>(all, x, weights + 3 * quad_size);
    }
    all.write(p);
  }

 private:
  /// The first pair of the quad four times, then the second one.
  template <int quad>
  [[gnu::always_inline]] static inline int8x16_t pairs_of(int8x16_t x) {
    const int16x8_t pairs = vreinterpretq_s16_s8(x);
    return vreinterpretq_s8_s16(
        vcombine_s16(vdup_laneq_s16(pairs, 2 * quad), vdup_laneq_s16(pairs, 2 * quad + 1)));
  }
  template <int quad, std::size_t rows>
  [[gnu::always_inline]] static inline void add_quad(NeonSums<rows>& all,
                                                     const int8x16_t (&x)[rows],
                                                     const std::byte* weights) {
    const int8x16_t w[2]{bytes_at(weights), bytes_at(weights + 16)};
#pragma GCC unroll 10
    for (std::size_t r = 0; r < rows; ++r) {
      const int8x16_t pairs = pairs_of<quad>(x[r]);
#pragma GCC unroll 2
      for (std::size_t v = 0; v < 2; ++v) {
        const int16x8_t first = vmull_s8(vget_low_s8(pairs), vget_low_s8(w[v]));
        all.sums[r][v] = vpadalq_s16(all.sums[r][v], vmlal_high_s8(first, pairs, w[v]));
      }
    }
  }
};

struct ByDots {
  static constexpr std::size_t most_rows = 10;  // 20 sums, 10 rows and 2 weights fill all registers

  template <std::size_t rows>
  [[gnu::target("arch=armv8.2-a+dotprod")]] static void multiply(const PanelProduct& p) {
    NeonSums<rows> all(p.starts);
    const std::byte* weights = p.panel;
    for (std::size_t k = 0; k < p.depth; k += 16, weights += 4 * quad_size) {
      int8x16_t x[rows];
#pragma GCC unroll 10
      for (std::size_t r = 0; r < rows; ++r) x[r] = bytes_at(p.rows + r * p.row_apart + k);
      add_quad<0>(all, x, weights);
      add_quad<1>(all, x, weights + quad_size);
      add_quad<2>(all, x, weights + 2 * quad_size);
      add_quad<3>(all, x, weights + 3 * quad_size);
    }
    all.write(p);
  }

 private:
  template <int quad, std::size_t rows>
  [[gnu::always_inline, gnu::target("arch=armv8.2-a+dotprod")]] static inline void add_quad(
      NeonSums<rows>& all, const int8x16_t (&x)[rows], const std::byte* weights) {
    const int8x16_t w[2]{bytes_at(weights), bytes_at(weights + 16)};
#pragma GCC unroll 10
    for (std::size_t r = 0; r < rows; ++r) {
      all.sums[r][0] = vdotq_laneq_s32(all.sums[r][0], w[0], x[r], quad);
      all.sums[r][1] = vdotq_laneq_s32(all.sums[r][1], w[1], x[r], quad);
    }
  }
};

/// Multiplies two rows by two outputs each; with an odd number of rows the last one counts twice.
struct ByMatrices {
  static constexpr std::size_t most_rows = 8;

  template <std::size_t rows>
  [[gnu::target("arch=armv8.2-a+i8mm")]] static void multiply(const PanelProduct& p) {
    constexpr std::size_t pairs = (rows + 1) / 2;
    int32x4_t sums[pairs][4];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < 4; ++v) {
      const int32x2_t two = vld1_s32(p.starts + 2 * v);
#pragma GCC unroll 4
      for (std::size_t i = 0; i < pairs; ++i) sums[i][v] = vcombine_s32(two, two);
    }
    const std::byte* weights = p.panel;
    for (std::size_t k = 0; k < p.depth; k += 16, weights += 4 * quad_size) {
      int64x2_t first[pairs], second[pairs];
#pragma GCC unroll 4
      for (std::size_t i = 0; i < pairs; ++i) {
        const std::size_t other = 2 * i + 1 < rows ? 2 * i + 1 : 2 * i;
        const int64x2_t a = vreinterpretq_s64_s8(bytes_at(p.rows + 2 * i * p.row_apart + k));
        const int64x2_t b = vreinterpretq_s64_s8(bytes_at(p.rows + other * p.row_apart + k));
        first[i] = vzip1q_s64(a, b);
        second[i] = vzip2q_s64(a, b);
      }
      add_eight(sums, first, weights);
      add_eight(sums, second, weights + 2 * quad_size);
    }
    write<rows>(p, sums);
  }

 private:
  template <std::size_t pairs>
  [[gnu::always_inline, gnu::target("arch=armv8.2-a+i8mm")]] static inline void add_eight(
      int32x4_t (&sums)[pairs][4], const int64x2_t (&x)[pairs], const std::byte* weights) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < 4; ++v) {
      const int8x16_t w = bytes_at(weights + 16 * v);
#pragma GCC unroll 4
      for (std::size_t i = 0; i < pairs; ++i)
        sums[i][v] = vmmlaq_s32(sums[i][v], vreinterpretq_s8_s64(x[i]), w);
    }
  }
  template <std::size_t rows, std::size_t pairs>
  [[gnu::always_inline]] static inline void write(const PanelProduct& p,
                                                  const int32x4_t (&sums)[pairs][4]) {
    std::int32_t* to = p.sums;
    const std::size_t apart = p.sum_apart;
#pragma GCC unroll 10
    for (std::size_t r = 0; r < rows; ++r, to += apart)
#pragma GCC unroll 4
      for (std::size_t v = 0; v < 4; ++v)
        vst1_s32(to + 2 * v, r % 2 == 0 ? vget_low_s32(sums[r / 2][v])
                                        : vget_high_s32(sums[r / 2][v]));
  }
};

template <class Unit, std::size_t rows = Unit::most_rows>
void multiply_rest(const PanelProduct& p) {
  if constexpr (rows > 0) {
    if (p.count == rows)
      Unit::template multiply<rows>(p);
    else
      multiply_rest<Unit, rows - 1>(p);
  }
}

/// In pieces of about as many rows each.
template <class Unit>
void multiply_all(PanelProduct p) {
  for (std::size_t left = p.count; left > 0; left -= p.count) {
    const std::size_t pieces = (left + Unit::most_rows - 1) / Unit::most_rows;
    p.count = (left + pieces - 1) / pieces;
    multiply_rest<Unit>(p);
    p.rows += p.count * p.row_apart;
    p.sums += p.count * p.sum_apart;
  }
}

}  // namespace

void multiply_by_neon(const PanelProduct& product) { multiply_all<ByHalfwords>(product); }
void multiply_by_neon_dot(const PanelProduct& product) { multiply_all<ByDots>(product); }
void multiply_by_neon_i8mm(const PanelProduct& product) { multiply_all<ByMatrices>(product); }

}  // namespace millrace::kernels
#else

namespace millrace::kernels {
void multiply_by_neon(const PanelProduct& /*product*/) {}
void multiply_by_neon_dot(const PanelProduct& /*product*/) {}
void multiply_by_neon_i8mm(const PanelProduct& /*product*/) {}
}  // namespace millrace::kernels
#endif
