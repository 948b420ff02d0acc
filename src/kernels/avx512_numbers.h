#pragma once
// Inside our own convolutions with AVX-512: 16 numbers as they are stored, and what is done to a
// sum before it is stored.
#include <immintrin.h>

#include <algorithm>
#include <cstddef>

#include "kernels/own_convolution.h"

namespace millrace::kernels {

/// 16 numbers, or as many as the mask has.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] inline __m512 load(const std::byte* from,
                                                                           StoredNumber number,
                                                                           __mmask16 mask) {
  switch (number) {
    case StoredNumber::f32:
      return _mm512_maskz_loadu_ps(mask, from);
    case StoredNumber::bf16:
      return _mm512_castsi512_ps(
          _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, from)), 16));
    case StoredNumber::f16:
      return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, from));
    case StoredNumber::u8:
      return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, from)));
    case StoredNumber::s8:
      break;
  }
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, from)));
}

[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] inline void store(__m512 x, std::byte* to,
                                                                          StoredNumber number,
                                                                          __mmask16 mask) {
  switch (number) {
    case StoredNumber::f32:
      return _mm512_mask_storeu_ps(to, mask, x);
    case StoredNumber::bf16:
      return _mm256_mask_storeu_epi16(to, mask, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
    case StoredNumber::f16:
      return _mm256_mask_storeu_epi16(
          to, mask, _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    case StoredNumber::u8:
      x = _mm512_max_ps(x, _mm512_setzero_ps());
      return _mm_mask_storeu_epi8(to, mask, _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(x)));
    case StoredNumber::s8:
      break;
  }
  x = _mm512_min_ps(x, _mm512_set1_ps(127));  // what 32 bits do not hold converts to the least
  _mm_mask_storeu_epi8(to, mask, _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(x)));
}

/// Of 16 outputs that follow each other, in units of the result.
struct Finish {
  const OwnConvolution& convolution;
  __mmask16 mask;  // of those that there are
  __m512 scale, bias, added_scale, slope, low, high;

  /// `scales`, `bias`: by output; may be null.
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] Finish(const OwnConvolution& of,
                                                                 const float* scales,
                                                                 const float* biases,
                                                                 std::size_t first)
      : convolution(of) {
    const std::size_t all = of.outputs;
    const std::size_t count = first < all ? std::min<std::size_t>(all - first, 16) : 0;
    mask = static_cast<__mmask16>((1u << count) - 1);
    bias = scale = _mm512_setzero_ps();
    if (biases != nullptr) bias = _mm512_maskz_loadu_ps(mask, biases + first);
    if (scales != nullptr) scale = _mm512_maskz_loadu_ps(mask, scales + first);
    added_scale = _mm512_set1_ps(of.added_scale);
    slope = _mm512_set1_ps(of.activation.slope);
    low = _mm512_set1_ps(of.activation.low);
    high = _mm512_set1_ps(of.activation.high);
  }

  /// Sums without bias; `to`: where the results of a pixel lie.
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void finish(__m512 x,
                                                                      std::byte* to) const {
    finish_as(x, to, convolution.added, convolution.result);
  }
  /// The same where the kinds of numbers are known beforehand.
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16"), gnu::always_inline]] inline void finish_as(
      __m512 x, std::byte* to, StoredNumber added, StoredNumber result) const {
    x = _mm512_add_ps(x, bias);
    if (convolution.adds) x = _mm512_fmadd_ps(load(to, added, mask), added_scale, x);
    x = _mm512_mask_mul_ps(x, _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ), x, slope);
    x = _mm512_min_ps(high, _mm512_max_ps(low, x));
    store(x, to, result, mask);
  }
};

}  // namespace millrace::kernels
