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

/// Some processors are slow to store with a mask.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] inline void store_bytes(__m128i bytes,
                                                                                std::byte* to,
                                                                                __mmask16 mask) {
  if (mask == 0xffff)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
  else
    _mm_mask_storeu_epi8(to, mask, bytes);
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
      return store_bytes(_mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(x)), to, mask);
    case StoredNumber::s8:
      break;
  }
  x = _mm512_min_ps(x, _mm512_set1_ps(127));  // what 32 bits do not hold converts to the least
  store_bytes(_mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(x)), to, mask);
}

/// x / (1 + exp(-x)), within 1e-6 of its size; 0 below -89, and none for minus infinity. exp(-x) =
/// 2^n 2^f with |f| <= 1/2, and 2^f is a polynomial.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] inline __m512 swish(__m512 x) {
  constexpr float log2_of_e = 1.44269504f, farthest = 200;  // as an exponent: beyond all numbers
  __m512 t = _mm512_mul_ps(x, _mm512_set1_ps(-log2_of_e));
  t = _mm512_max_ps(_mm512_set1_ps(-farthest), _mm512_min_ps(_mm512_set1_ps(farthest), t));
  const __m512 n = _mm512_roundscale_ps(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 f = _mm512_sub_ps(t, n);
  __m512 power = _mm512_set1_ps(0.00132669704f);
  for (const float coefficient :
       {0.00967545975f, 0.0555074262f, 0.240221218f, 0.693146949f, 1.00000007f})
    power = _mm512_fmadd_ps(power, f, _mm512_set1_ps(coefficient));
  const __m512 exponential = _mm512_scalef_ps(power, n);
  return _mm512_div_ps(x, _mm512_add_ps(_mm512_set1_ps(1), exponential));
}

/// The sums without bias of some pixels, for 16 outputs, and where their results lie.
struct Pixels {
  const float* sums = nullptr;  // aligned to 64 bytes
  std::size_t sums_apart = 0;
  std::size_t count = 0;
  std::byte* to = nullptr;
  std::size_t to_apart = 0;  // bytes
};

/// What turns sums of 16 outputs that follow each other into results, in units of the result.
struct Finish {
  const OwnConvolution& convolution;
  __mmask16 mask;  // of those that there are
  __m512 scale, bias, added_scale, slope, low, high;
  __m512 unit, last;  // after the activation
  bool bends, adds_first, adds_last;
  StoredNumber added;

  /// `scales`, `bias`: by output; may be null.
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] Finish(const OwnConvolution& of,
                                                                 const float* scales,
                                                                 const float* biases,
                                                                 std::size_t first)
      : convolution(of),
        bends(of.activation.slope != 1),
        adds_first(of.adds && !of.adds_last),
        adds_last(of.adds && of.adds_last),
        added(of.added) {
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
    unit = _mm512_set1_ps(of.activation.unit);
    last = _mm512_set1_ps(of.result_zero);
    if (!of.adds) return;
    __m512& shifted = of.adds_last ? last : bias;
    shifted = _mm512_sub_ps(shifted, _mm512_set1_ps(of.added_zero * of.added_scale));
  }

  /// Sums without bias; `to`: where the results of a pixel lie.
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void finish(__m512 x,
                                                                      std::byte* to) const {
    if (convolution.activation.swish)
      finish_as<true>(x, to, convolution.result);
    else
      finish_as<false>(x, to, convolution.result);
  }
  /// The same of several pixels.
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void finish(const Pixels& pixels) const {
    switch (convolution.result) {
      case StoredNumber::u8:
        return finish_pixels<StoredNumber::u8>(pixels);
      case StoredNumber::bf16:
        return finish_pixels<StoredNumber::bf16>(pixels);
      case StoredNumber::f16:
        return finish_pixels<StoredNumber::f16>(pixels);
      case StoredNumber::f32:
        return finish_pixels<StoredNumber::f32>(pixels);
      case StoredNumber::s8:
        break;
    }
    finish_pixels<StoredNumber::s8>(pixels);
  }

 private:
  template <StoredNumber result>
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void finish_pixels(
      const Pixels& pixels) const {
    const Finish local = *this;  // so that the compiler sees that no result overwrites it
    const bool swishes = convolution.activation.swish;
    for (std::size_t i = 0; i < pixels.count; ++i) {
      const __m512 x = _mm512_load_ps(pixels.sums + i * pixels.sums_apart);
      std::byte* const to = pixels.to + i * pixels.to_apart;
      if (swishes)
        local.finish_as<true>(x, to, result);
      else
        local.finish_as<false>(x, to, result);
    }
  }

  template <bool swishes>
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16"), gnu::always_inline]] inline void finish_as(
      __m512 x, std::byte* to, StoredNumber result) const {
    x = _mm512_add_ps(x, bias);
    if (adds_first) x = _mm512_fmadd_ps(load(to, added, mask), added_scale, x);
    if (swishes) {
      x = _mm512_mul_ps(swish(x), unit);
    } else {
      if (bends)
        x = _mm512_mask_mul_ps(x, _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ), x, slope);
      x = _mm512_min_ps(high, _mm512_max_ps(low, x));
    }
    if (adds_last) x = _mm512_fmadd_ps(load(to, added, mask), added_scale, x);
    store(_mm512_add_ps(x, last), to, result, mask);
  }
};

}  // namespace millrace::kernels
