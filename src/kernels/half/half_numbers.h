#pragma once
// Inside half_convolution.h: vectors of eight numbers of 16 bits, by functions that are inlined
// only.
// What not every processor of 64-bit ARM has is in assembly, which clang 14 has no way to allow.
#if defined(__aarch64__) && !defined(__clang__)
#include <arm_neon.h>

#include "kernels/half/half_convolution.h"

namespace millrace::kernels {

[[gnu::always_inline]] inline float16x8_t read_half(const Half* from) {
  return vreinterpretq_f16_u16(vld1q_u16(from));
}
[[gnu::always_inline]] inline void write_half(Half* to, float16x8_t x) {
  vst1q_u16(to, vreinterpretq_u16_f16(x));
}
[[gnu::always_inline]] inline float16x8_t spread_half(float x) {
  const float16x4_t y = vcvt_f16_f32(vdupq_n_f32(x));
  return vcombine_f16(y, y);
}
[[gnu::always_inline]] inline float16x8_t no_halves() {
  return vreinterpretq_f16_u16(vdupq_n_u16(0));
}

/// sum + a * b, rounded once. In the order in which they stand in the source: compilers do not know
/// how long a product takes.
[[gnu::always_inline]] inline float16x8_t with_product(float16x8_t sum, float16x8_t a,
                                                       float16x8_t b) {
  asm volatile(".arch_extension fp16\n\tfmla %0.8h, %1.8h, %2.8h"
               : "+w"(sum)
               : "w"(a), "w"(b));
  return sum;
}
/// The same with one number of b, which must lie in one of the first 16 registers. GCC 12 would
/// copy the number to all of a vector first.
template <int lane>
[[gnu::always_inline]] inline void add_product(float16x8_t& sum, float16x8_t a, float16x8_t b) {
  asm volatile(".arch_extension fp16\n\tfmla %0.8h, %1.8h, %2.h[%3]"
               : "+w"(sum)
               : "w"(a), "x"(b), "i"(lane));
}
[[gnu::always_inline]] inline float16x8_t sum_of(float16x8_t a, float16x8_t b) {
  asm(".arch_extension fp16\n\tfadd %0.8h, %0.8h, %1.8h" : "+w"(a) : "w"(b));
  return a;
}
[[gnu::always_inline]] inline float16x8_t product_of(float16x8_t a, float16x8_t b) {
  asm(".arch_extension fp16\n\tfmul %0.8h, %0.8h, %1.8h" : "+w"(a) : "w"(b));
  return a;
}
/// min(max(x, low), high); not a number stays none.
[[gnu::always_inline]] inline float16x8_t clipped(float16x8_t x, float16x8_t low,
                                                  float16x8_t high) {
  asm(".arch_extension fp16\n\tfmax %0.8h, %0.8h, %1.8h\n\tfmin %0.8h, %0.8h, %2.8h"
      : "+&w"(x)
      : "w"(low), "w"(high));
  return x;
}
/// Eight numbers to float32, and back to the nearest.
[[gnu::always_inline]] inline void widen_half(const Half* from, float* to) {
  const float16x8_t x = read_half(from);
  vst1q_f32(to, vcvt_f32_f16(vget_low_f16(x)));
  vst1q_f32(to + 4, vcvt_high_f32_f16(x));
}
[[gnu::always_inline]] inline float16x8_t narrow(float32x4_t low, float32x4_t high) {
  return vcvt_high_f16_f32(vcvt_f16_f32(low), high);
}
[[gnu::always_inline]] inline void narrow_half(const float* from, Half* to) {
  write_half(to, narrow(vld1q_f32(from), vld1q_f32(from + 4)));
}

/// The first and the last four of eight bfloat16 numbers in float32, and back to the nearest.
[[gnu::always_inline]] inline float32x4_t low_of_bfloats(float16x8_t x) {
  return vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(vreinterpretq_u16_f16(x)), 16));
}
[[gnu::always_inline]] inline float32x4_t high_of_bfloats(float16x8_t x) {
  return vreinterpretq_f32_u32(vshll_high_n_u16(vreinterpretq_u16_f16(x), 16));
}
[[gnu::always_inline]] inline float16x8_t narrow_to_bfloats(float32x4_t low, float32x4_t high) {
  float16x8_t x;
  asm(".arch_extension bf16\n\tbfcvtn %0.4h, %1.4s\n\tbfcvtn2 %0.8h, %2.4s"
      : "=&w"(x)
      : "w"(low), "w"(high));
  return x;
}
/// min(max(x, low), high); not a number stays none.
[[gnu::always_inline]] inline float32x4_t clipped(float32x4_t x, float32x4_t low,
                                                  float32x4_t high) {
  return vminq_f32(vmaxq_f32(x, low), high);
}

/// What loops over vectors have to know of a kind of numbers: how to widen and narrow them.
struct Float16Numbers {
  [[gnu::always_inline]] static float32x4_t low(float16x8_t x) {
    return vcvt_f32_f16(vget_low_f16(x));
  }
  [[gnu::always_inline]] static float32x4_t high(float16x8_t x) { return vcvt_high_f32_f16(x); }
  [[gnu::always_inline]] static float16x8_t narrowed(float32x4_t low, float32x4_t high) {
    return narrow(low, high);
  }
};
struct Bfloat16Numbers {
  [[gnu::always_inline]] static float32x4_t low(float16x8_t x) { return low_of_bfloats(x); }
  [[gnu::always_inline]] static float32x4_t high(float16x8_t x) { return high_of_bfloats(x); }
  [[gnu::always_inline]] static float16x8_t narrowed(float32x4_t low, float32x4_t high) {
    return narrow_to_bfloats(low, high);
  }
};
template <class Numbers>
[[gnu::always_inline]] inline void widen(const Half* from, float* to) {
  const float16x8_t x = read_half(from);
  vst1q_f32(to, Numbers::low(x));
  vst1q_f32(to + 4, Numbers::high(x));
}
template <class Numbers>
[[gnu::always_inline]] inline void narrow_eight(const float* from, Half* to) {
  write_half(to, Numbers::narrowed(vld1q_f32(from), vld1q_f32(from + 4)));
}

}  // namespace millrace::kernels
#endif
