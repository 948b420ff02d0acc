#pragma once
// Inside integer_convolution.h: the kinds of integers that pixels become, in vectors of 64 bytes.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/bfloat16.h"
#include "kernels/float16.h"
#include "kernels/own_convolution.h"

namespace millrace::kernels {

/// bfloat16 or float16 numbers, which become integers of 16 bits.
template <StoredNumber stored>
struct Words {
  using Number = std::uint16_t;
  static constexpr StoredNumber number = stored;
  static constexpr bool has_factors = true;
  static constexpr std::size_t in_vector = 32;

  /// The larger of these and the magnitudes of the numbers, as their bits.
  [[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] static __m512i larger(
      __m512i most, const Number* from, std::size_t count) {
    const __m512i magnitude = _mm512_set1_epi16(0x7fff);
    std::size_t i = 0;
    for (; i + in_vector <= count; i += in_vector)
      most = _mm512_max_epu16(most, _mm512_and_si512(_mm512_loadu_si512(from + i), magnitude));
    if (i == count) return most;
    return _mm512_max_epu16(most, _mm512_and_si512(rest(from + i, count - i), magnitude));
  }
  [[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] static float largest(__m512i words) {
    const __m512i high = _mm512_srli_epi32(words, 16);
    const __m512i low = _mm512_and_si512(words, _mm512_set1_epi32(0xffff));
    const auto bits = static_cast<Number>(_mm512_reduce_max_epu32(_mm512_max_epu32(high, low)));
    return stored == StoredNumber::f16 ? from_float16(bits) : from_bfloat16(bits);
  }

  [[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] static __m512i rest(
      const Number* from, std::size_t count) {
    return _mm512_maskz_loadu_epi16((__mmask32{1} << count) - 1, from);
  }
  [[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16"),
    gnu::always_inline]] static inline __m512i
  integers_of(__m512i x, float factor) {
    const __m512 times = _mm512_set1_ps(factor);
    // Leaves the nearest integer of a number below 2^22 in the lowest bits.
    const __m512 to_integer = _mm512_set1_ps(12582912.f);
    if constexpr (stored == StoredNumber::f16) {
      const __m512 first = _mm512_cvtph_ps(_mm512_castsi512_si256(x));
      const __m512 second = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(x, 1));
      const __m512i low = _mm512_castps_si512(_mm512_fmadd_ps(first, times, to_integer));
      const __m512i high = _mm512_castps_si512(_mm512_fmadd_ps(second, times, to_integer));
      return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(low)),
                                _mm512_cvtepi32_epi16(high), 1);
    }
    const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
    const __m512 even = _mm512_castsi512_ps(_mm512_slli_epi32(x, 16));
    const __m512 odd = _mm512_castsi512_ps(_mm512_and_si512(x, upper));
    const __m512i low = _mm512_castps_si512(_mm512_fmadd_ps(even, times, to_integer));
    const __m512i high = _mm512_castps_si512(_mm512_fmadd_ps(odd, times, to_integer));
    return _mm512_mask_blend_epi16(0xaaaaaaaau, low, _mm512_slli_epi32(high, 16));
  }

  /// To each sum the products of the numbers in its place. In assembly, since the compiler moves
  /// sums to and fro around its own intrinsic.
  [[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] static __m512i with_products(
      __m512i sums, __m512i pixels, __m512i weights) {
    asm("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(pixels), "v"(weights));
    return sums;
  }
  [[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] static __m512 floats_of(
      __m512i sums, const std::byte*) {
    return _mm512_cvtepi32_ps(sums);
  }
};

/// Numbers of 8 bits. Those with a sign are shifted by 128 to have none, as the instruction wants
/// them.
template <bool is_signed>
struct Quads {
  using Number = std::uint8_t;
  static constexpr bool has_factors = false;
  static constexpr std::size_t in_vector = 64;

  [[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] static __m512i rest(
      const Number* from, std::size_t count) {
    return _mm512_maskz_loadu_epi8((__mmask64{1} << count) - 1, from);
  }
  [[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] static __m512i integers_of(__m512i x,
                                                                                        float) {
    return is_signed ? _mm512_xor_si512(x, _mm512_set1_epi8(-128)) : x;
  }
  [[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] static __m512i with_products(
      __m512i sums, __m512i pixels, __m512i weights) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(pixels), "v"(weights));
    return sums;
  }
  /// `shifts`: what the pixels' shift adds to the sums.
  [[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] static __m512 floats_of(
      __m512i sums, const std::byte* shifts) {
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(sums, _mm512_loadu_si512(shifts)));
  }
};

}  // namespace millrace::kernels
