#include "kernels/quads/depthwise_loops.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace millrace::kernels {

#if defined(__x86_64__)
namespace {

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i depthwise_vector(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

/// Sixteen bytes as halfwords.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i halfwords_at(const std::uint8_t* from) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

/// The sums lie as pairs of halfwords come out: channels 0 to 3 and 8 to 11, and then the others.
template <std::size_t pixels>
[[gnu::target("avx2")]] void sum_some(const DepthwisePixels& p, std::size_t first) {
  const __m256i a = depthwise_vector(p.starts), b = depthwise_vector(p.starts + 8);
  __m256i low[pixels], high[pixels];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < pixels; ++i) {
    low[i] = _mm256_permute2x128_si256(a, b, 0x20);
    high[i] = _mm256_permute2x128_si256(a, b, 0x31);
  }
  const std::byte* weights = p.weights;
  const std::size_t begin = p.channel + first * p.apart;
  for (std::size_t tap = 0; tap < p.tap_count; tap += 2, weights += 64) {
    const std::uint8_t *x = p.taps[tap] + begin, *y = p.taps[tap + 1] + begin;
    const __m256i w = depthwise_vector(weights), v = depthwise_vector(weights + 32);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < pixels; ++i, x += p.apart, y += p.apart) {
      const __m256i left = halfwords_at(x), right = halfwords_at(y);
      const __m256i l = _mm256_madd_epi16(_mm256_unpacklo_epi16(left, right), w);
      const __m256i h = _mm256_madd_epi16(_mm256_unpackhi_epi16(left, right), v);
      low[i] = _mm256_add_epi32(low[i], l);
      high[i] = _mm256_add_epi32(high[i], h);
    }
  }
  std::int32_t* sums = p.sums + first * p.sum_apart;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < pixels; ++i, sums += p.sum_apart) {
    auto* const to = reinterpret_cast<__m256i*>(sums);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(low[i], high[i], 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(low[i], high[i], 0x31));
  }
}

}  // namespace

std::size_t depthwise_pair_size() { return 64; }

void put_depthwise(std::int8_t weight, std::size_t channel, std::size_t tap, std::byte* pair) {
  const std::size_t in_half = channel / 8 * 4 + channel % 4;
  const std::int16_t wide = weight;
  std::memcpy(pair + channel / 4 % 2 * 32 + in_half * 4 + tap * 2, &wide, sizeof wide);
}

void sum_depthwise(const DepthwisePixels& pixels) {
  std::size_t i = 0;
  for (; i + 4 <= pixels.count; i += 4) sum_some<4>(pixels, i);
  for (; i < pixels.count; ++i) sum_some<1>(pixels, i);
}

#elif defined(__aarch64__)
namespace {

/// Two products as halfwords, and their sum: 2 * 128 * 127 < 2^15.
template <std::size_t pixels>
void sum_some(const DepthwisePixels& p, std::size_t first) {
  int32x4_t sums[pixels][4];
  std::size_t at[pixels];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < pixels; ++i) {
    at[i] = p.channel + (first + i) * p.apart;
#pragma GCC unroll 4
    for (std::size_t v = 0; v < 4; ++v) sums[i][v] = vld1q_s32(p.starts + 4 * v);
  }
  const auto* weights = reinterpret_cast<const std::int8_t*>(p.weights);
  for (std::size_t tap = 0; tap < p.tap_count; tap += 2, weights += 32) {
    const std::uint8_t *x = p.taps[tap], *y = p.taps[tap + 1];
    const int8x16_t w = vld1q_s8(weights), v = vld1q_s8(weights + 16);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < pixels; ++i) {
      const int8x16_t left = vreinterpretq_s8_u8(vld1q_u8(x + at[i]));
      const int8x16_t right = vreinterpretq_s8_u8(vld1q_u8(y + at[i]));
      const int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(left), vget_low_s8(w)),
                                     vget_low_s8(right), vget_low_s8(v));
      const int16x8_t high = vmlal_high_s8(vmull_high_s8(left, w), right, v);
      sums[i][0] = vaddw_s16(sums[i][0], vget_low_s16(low));
      sums[i][1] = vaddw_high_s16(sums[i][1], low);
      sums[i][2] = vaddw_s16(sums[i][2], vget_low_s16(high));
      sums[i][3] = vaddw_high_s16(sums[i][3], high);
    }
  }
  std::int32_t* to = p.sums + first * p.sum_apart;
  const std::size_t apart = p.sum_apart;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < pixels; ++i, to += apart)
#pragma GCC unroll 4
    for (std::size_t v = 0; v < 4; ++v) vst1q_s32(to + 4 * v, sums[i][v]);
}

}  // namespace

std::size_t depthwise_pair_size() { return 32; }

void put_depthwise(std::int8_t weight, std::size_t channel, std::size_t tap, std::byte* pair) {
  pair[tap * depthwise_block + channel] = static_cast<std::byte>(weight);
}

void sum_depthwise(const DepthwisePixels& pixels) {
  std::size_t i = 0;
  for (; i + 4 <= pixels.count; i += 4) sum_some<4>(pixels, i);
  for (; i < pixels.count; ++i) sum_some<1>(pixels, i);
}

#else
std::size_t depthwise_pair_size() { return 32; }
void put_depthwise(std::int8_t, std::size_t, std::size_t, std::byte*) {}
void sum_depthwise(const DepthwisePixels&) {}
#endif

}  // namespace millrace::kernels
