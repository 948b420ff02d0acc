// Panels of 16 outputs: two vectors of four weights each.
#include "kernels/quads/unit_loops.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace millrace::kernels {
namespace {

constexpr std::size_t avx_rows = 6;  // 6 x 2 sums, weights, and a row's bytes fit 16 registers
constexpr std::size_t quad_bytes = MorePairs::quad_bytes;

/// Four bytes, in all places.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i spread_quad(const std::uint8_t* from) {
  std::int32_t quad;
  std::memcpy(&quad, from, sizeof quad);
  return _mm256_set1_epi32(quad);
}
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i vector_at(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

[[gnu::target("avx2"), gnu::always_inline]] inline void add_pairs(__m256i& sum, __m256i bytes,
                                                                  __m256i weights) {
  const __m256i pairs = _mm256_maddubs_epi16(bytes, weights);
  sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

struct ByPairs {
  static constexpr bool has_more = true;
  [[gnu::target("avx2"), gnu::always_inline]] static inline void add(__m256i& sum, __m256i bytes,
                                                                     __m256i /*magnitudes*/,
                                                                     __m256i weights) {
    add_pairs(sum, bytes, weights);
  }
};
/// The signs go to the weights: 2 * 128 * 127 < 2^15.
struct BySigns {
  static constexpr bool has_more = false;
  [[gnu::target("avx2"), gnu::always_inline]] static inline void add(__m256i& sum, __m256i bytes,
                                                                     __m256i magnitudes,
                                                                     __m256i weights) {
    add_pairs(sum, magnitudes, _mm256_sign_epi8(weights, bytes));
  }
};
/// In assembly, so that both units share what is compiled for AVX2.
struct ByQuads {
  static constexpr bool has_more = false;
  [[gnu::target("avx2"), gnu::always_inline]] static inline void add(__m256i& sum, __m256i bytes,
                                                                     __m256i /*magnitudes*/,
                                                                     __m256i weights) {
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(bytes), "x"(weights));
  }
};

template <class Unit, std::size_t rows>
[[gnu::target("avx2"), gnu::always_inline]] inline void add_quad(__m256i (&sums)[rows][2],
                                                                 const std::uint8_t* from,
                                                                 std::size_t row_apart,
                                                                 const std::byte* weights) {
  const __m256i left = vector_at(weights), right = vector_at(weights + 32);
#pragma GCC unroll 6
  for (std::size_t r = 0; r < rows; ++r) {
    const __m256i bytes = spread_quad(from + r * row_apart);
    const __m256i magnitudes = _mm256_abs_epi8(bytes);
    Unit::add(sums[r][0], bytes, magnitudes, left);
    Unit::add(sums[r][1], bytes, magnitudes, right);
  }
}

template <class Unit, std::size_t rows>
[[gnu::target("avx2")]] void multiply_some(const PanelProduct& p) {
  __m256i sums[rows][2];
  const __m256i starts[2]{vector_at(p.starts), vector_at(p.starts + 8)};
#pragma GCC unroll 6
  for (std::size_t r = 0; r < rows; ++r) sums[r][0] = starts[0], sums[r][1] = starts[1];
  const std::byte* weights = p.panel;
  for (std::size_t k = 0; k < p.depth; k += 4, weights += quad_bytes)
    add_quad<Unit>(sums, p.rows + k, p.row_apart, weights);
  if constexpr (Unit::has_more) {
    std::uint32_t count, at;
    std::memcpy(&count, weights, sizeof count);
    const std::byte* places = weights + sizeof count;
    weights += MorePairs::head_size(p.depth);
    for (; count > 0; --count, places += sizeof at, weights += quad_bytes) {
      std::memcpy(&at, places, sizeof at);
      add_quad<Unit>(sums, p.rows + at, p.row_apart, weights);
    }
  }
#pragma GCC unroll 6
  for (std::size_t r = 0; r < rows; ++r)
#pragma GCC unroll 2
    for (std::size_t v = 0; v < 2; ++v)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p.sums + r * p.sum_apart + 8 * v), sums[r][v]);
}

template <class Unit, std::size_t rows = avx_rows>
void multiply_rest(const PanelProduct& p) {
  if constexpr (rows > 0) {
    if (p.count == rows)
      multiply_some<Unit, rows>(p);
    else
      multiply_rest<Unit, rows - 1>(p);
  }
}

/// In pieces of about as many rows each.
template <class Unit>
void multiply_all(PanelProduct p) {
  for (std::size_t left = p.count; left > 0; left -= p.count) {
    const std::size_t pieces = (left + avx_rows - 1) / avx_rows;
    p.count = (left + pieces - 1) / pieces;
    multiply_rest<Unit>(p);
    p.rows += p.count * p.row_apart;
    p.sums += p.count * p.sum_apart;
  }
}

}  // namespace

void multiply_by_avx2(const PanelProduct& product) { multiply_all<ByPairs>(product); }
void multiply_by_avx2_signs(const PanelProduct& product) { multiply_all<BySigns>(product); }
void multiply_by_avx_vnni(const PanelProduct& product) { multiply_all<ByQuads>(product); }

}  // namespace millrace::kernels
#else

namespace millrace::kernels {
void multiply_by_avx2(const PanelProduct& /*product*/) {}
void multiply_by_avx2_signs(const PanelProduct& /*product*/) {}
void multiply_by_avx_vnni(const PanelProduct& /*product*/) {}
}  // namespace millrace::kernels
#endif
