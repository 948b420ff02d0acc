#pragma once
// Vectors of some numbers, as wide as the processor's registers: wider ones, compilers keep in
// memory and compare number by number. For functions that are inlined only: such vectors are wider
// than what the baseline passes.
#include <cstddef>

namespace millrace::kernels {

inline constexpr std::size_t lane_count = 16;  // the most there are

template <std::size_t count>
struct LanesOf {
  using Type [[gnu::vector_size(sizeof(float) * count)]] = float;
};
using Lanes = LanesOf<lane_count>::Type;

template <class Vector>
[[gnu::always_inline]] inline void read_lanes(Vector& to, const float* from) {
  __builtin_memcpy(&to, from, sizeof to);
}

/// f(f(...), ...) of all numbers; f takes two vectors of any width.
template <class F>
[[gnu::always_inline]] inline float folded(const LanesOf<4>::Type& x, const F& f) {
  const LanesOf<4>::Type y = f(x, __builtin_shufflevector(x, x, 2, 3, 0, 1));
  return f(y, __builtin_shufflevector(y, y, 1, 0, 3, 2))[0];
}
template <class F>
[[gnu::always_inline]] inline float folded(const LanesOf<8>::Type& x, const F& f) {
  return folded(
      f(__builtin_shufflevector(x, x, 0, 1, 2, 3), __builtin_shufflevector(x, x, 4, 5, 6, 7)), f);
}
template <class F>
[[gnu::always_inline]] inline float folded(const Lanes& x, const F& f) {
  return folded(f(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7),
                  __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15)),
                f);
}

/// 16, 8 or 4: what the processor's registers hold, or fewer if the variable MILLRACE_MOST_LANES
/// says so, which tests set.
std::size_t lanes_here();

#if defined(__x86_64__)
template <class Work>
[[gnu::target("avx512f")]] void run_in_16_lanes(Work& work) {
  work.template run<16>();
}
template <class Work>
[[gnu::target("avx2,fma")]] void run_in_8_lanes(Work& work) {
  work.template run<8>();
}
#endif
/// With what every processor of the kind has: SSE2, NEON.
template <class Work>
void run_in_4_lanes(Work& work) {
  work.template run<4>();
}

/// work.run<lanes>(), compiled for the processor, with as many numbers in a vector as its registers
/// hold. All that run() calls with vectors must be inlined, lambdas too: a function for another
/// processor takes and returns vectors in other registers.
template <class Work>
void run_in_lanes(Work work) {
#if defined(__x86_64__)
  if (lanes_here() == 16) return run_in_16_lanes(work);
  if (lanes_here() == 8) return run_in_8_lanes(work);
#endif
  run_in_4_lanes(work);
}

}  // namespace millrace::kernels
