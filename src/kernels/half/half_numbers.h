#pragma once
// Inside half_convolution.h: vectors of eight float16 numbers. By functions that are inlined only.
#if defined(__aarch64__)
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

}  // namespace millrace::kernels
#endif
