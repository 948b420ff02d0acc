#pragma once
// Vectors at any address, and products by one of their numbers: by functions that are inlined only.
#include <cstddef>

#include "kernels/plain/lanes.h"

namespace millrace::kernels {

/// A copy of bytes would do too, but for NEON GCC 12 makes it go through registers of integers.
template <class Vector>
struct AnyAddress {
  using Type [[gnu::aligned(4)]] = Vector;
};
template <class Vector>
[[gnu::always_inline]] inline void read_vector(Vector& to, const float* from) {
  to = *reinterpret_cast<const typename AnyAddress<Vector>::Type*>(from);
}
template <class Vector>
[[gnu::always_inline]] inline void write_vector(float* to, const Vector& from) {
  *reinterpret_cast<typename AnyAddress<Vector>::Type*>(to) = from;
}

/// All numbers of a vector are this one of four. NEON multiplies by it without a step of its own.
template <int lane>
[[gnu::always_inline]] inline LanesOf<4>::Type spread(const LanesOf<4>::Type& x) {
  return __builtin_shufflevector(x, x, lane, lane, lane, lane);
}

#if defined(__aarch64__)
/// sum += x * y[lane], in the sum's own register: GCC moves some of many sums to other ones and
/// back in each step of a loop.
template <int lane>
[[gnu::always_inline]] inline void add_product(LanesOf<4>::Type& sum, const LanesOf<4>::Type& x,
                                               const LanesOf<4>::Type& y) {
  LanesOf<4>::Type now = sum;  // what lies in an array stays in registers so
  asm("fmla %0.4s, %1.4s, %2.s[%3]" : "+w"(now) : "w"(x), "w"(y), "i"(lane));
  sum = now;
}
#endif

/// run_in_lanes() with so many numbers in a vector, which the processor must have.
template <class Work>
void run_in(std::size_t lanes, Work work) {
#if defined(__x86_64__)
  if (lanes == 16) return run_in_16_lanes(work);
  if (lanes == 8) return run_in_8_lanes(work);
#endif
  static_cast<void>(lanes);
  run_in_4_lanes(work);
}

}  // namespace millrace::kernels
