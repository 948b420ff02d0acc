#pragma once
// Sixteen numbers at once, as bytes, integers and float32, for the processors that have a unit of
// byte_unit.h. By functions that are inlined only, into what run_in() compiles for such a
// processor: so those of x86-64 are in assembly, but for clang, which checks it before inlining.
#include <cstddef>
#include <cstdint>

#include "kernels/lane_products.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace millrace::kernels {

#if defined(__x86_64__)
inline constexpr std::size_t finish_lanes = 8;
#else
inline constexpr std::size_t finish_lanes = 4;
#endif
inline constexpr std::size_t finish_vectors = 16 / finish_lanes;
using FinishVector = LanesOf<finish_lanes>::Type;
using FinishIntegers [[gnu::vector_size(4 * finish_lanes)]] = std::int32_t;
using SixteenBytes [[gnu::vector_size(16)]] = std::uint8_t;

/// Not a number becomes the bound.
[[gnu::always_inline]] inline FinishVector clipped(FinishVector x,
                                                                       FinishVector low,
                                                                       FinishVector high) {
#if defined(__x86_64__) && !defined(__clang__)
  asm("vmaxps %2, %1, %0" : "=x"(x) : "x"(x), "x"(low));
  asm("vminps %2, %1, %0" : "=x"(x) : "x"(x), "x"(high));
  return x;
#elif defined(__aarch64__)
  return vminnmq_f32(vmaxnmq_f32(x, low), high);
#else
  x = x > low ? x : low;
  return x < high ? x : high;
#endif
}

/// The nearest integers, halves the even ones, within what bytes hold.
[[gnu::always_inline]] inline SixteenBytes nearest_bytes(
    const FinishVector (&x)[finish_vectors], bool is_signed) {
#if defined(__x86_64__) && !defined(__clang__)
  const FinishVector most = 65535 - FinishVector{};  // more than 32 bits hold is the least integer
  FinishIntegers whole[2];
  for (std::size_t i = 0; i < 2; ++i) {
    FinishVector y;
    asm("vminps %2, %1, %0" : "=x"(y) : "x"(most), "x"(x[i]));
    asm("vcvtps2dq %1, %0" : "=x"(whole[i]) : "x"(y));
  }
  FinishIntegers bytes;  // of the first vector four, of the second four, and the next ones
  asm("vpackssdw %2, %1, %0" : "=x"(bytes) : "x"(whole[0]), "x"(whole[1]));
  if (is_signed)
    asm("vpacksswb %1, %1, %0" : "=x"(bytes) : "x"(bytes));
  else
    asm("vpackuswb %1, %1, %0" : "=x"(bytes) : "x"(bytes));
  return __builtin_bit_cast(SixteenBytes, __builtin_shufflevector(bytes, bytes, 0, 4, 1, 5));
#elif defined(__aarch64__)
  int16x8_t half[2];
#pragma GCC unroll 2
  for (std::size_t i = 0; i < 2; ++i)
    half[i] = vqmovn_high_s32(vqmovn_s32(vcvtnq_s32_f32(x[2 * i])), vcvtnq_s32_f32(x[2 * i + 1]));
  if (is_signed)
    return __builtin_bit_cast(SixteenBytes, vqmovn_high_s16(vqmovn_s16(half[0]), half[1]));
  return vqmovun_high_s16(vqmovun_s16(half[0]), half[1]);
#else
  SixteenBytes bytes;
  for (std::size_t i = 0; i < 16; ++i) {
    float y = x[i / finish_lanes][i % finish_lanes];
    y = y > (is_signed ? -128.f : 0.f) ? y : is_signed ? -128.f : 0.f;
    y = y < (is_signed ? 127.f : 255.f) ? y : is_signed ? 127.f : 255.f;
    bytes[i] = static_cast<std::uint8_t>(static_cast<int>((y + 0x1.8p23f) - 0x1.8p23f));
  }
  return bytes;
#endif
}

[[gnu::always_inline]] inline FinishVector integers_at(
    const std::int32_t* from) {
  using Any [[gnu::aligned(4), gnu::may_alias]] = FinishIntegers;
  const FinishIntegers integers = *reinterpret_cast<const Any*>(from);
  return __builtin_convertvector(integers, FinishVector);
}
[[gnu::always_inline]] inline SixteenBytes bytes_at(const std::uint8_t* from) {
  using Any [[gnu::aligned(1), gnu::may_alias]] = SixteenBytes;
  return *reinterpret_cast<const Any*>(from);
}
[[gnu::always_inline]] inline void write_all(const SixteenBytes& bytes, std::byte* to) {
  using Any [[gnu::aligned(1), gnu::may_alias]] = SixteenBytes;
  *reinterpret_cast<Any*>(to) = bytes;
}

[[gnu::always_inline]] inline void numbers_of(const SixteenBytes& bytes, bool is_signed,
                                              FinishVector (&to)[finish_vectors]) {
#if defined(__x86_64__) && !defined(__clang__)
  SixteenBytes half = bytes;
  for (std::size_t v = 0; v < 2; ++v) {
    FinishIntegers integers;
    if (is_signed)
      asm("vpmovsxbd %1, %0" : "=x"(integers) : "x"(half));
    else
      asm("vpmovzxbd %1, %0" : "=x"(integers) : "x"(half));
    to[v] = __builtin_convertvector(integers, FinishVector);
    half = __builtin_shufflevector(half, half, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13,
                                   14, 15);
  }
#elif defined(__aarch64__)
  const auto with_sign = __builtin_bit_cast(int8x16_t, bytes);
  const int16x8_t low = is_signed ? vmovl_s8(vget_low_s8(with_sign))
                                  : vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(bytes)));
  const int16x8_t high = is_signed ? vmovl_high_s8(with_sign)
                                   : vreinterpretq_s16_u16(vmovl_high_u8(bytes));
  to[0] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(low)));
  to[1] = vcvtq_f32_s32(vmovl_high_s16(low));
  to[2] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(high)));
  to[3] = vcvtq_f32_s32(vmovl_high_s16(high));
#else
  for (std::size_t i = 0; i < 16; ++i)
    to[i / finish_lanes][i % finish_lanes] = static_cast<float>(
        is_signed ? static_cast<std::int8_t>(bytes[i]) : static_cast<int>(bytes[i]));
#endif
}

/// work.run<finish_lanes>(), compiled for what every unit of the architecture has.
template <class Work>
void run_for_units(Work work) {
#if defined(__x86_64__) && !defined(__clang__)
  run_in_8_lanes(work);
#else
  run_in_4_lanes(work);
#endif
}

}  // namespace millrace::kernels
