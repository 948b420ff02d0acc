#pragma once
// Vectors of sixteen numbers, and what they come down to. For functions that are inlined only: such
// vectors are wider than what the baseline passes.
#include <cstddef>

namespace millrace::kernels {

inline constexpr std::size_t lane_count = 16;

template <std::size_t count>
struct LanesOf {
  using Type [[gnu::vector_size(sizeof(float) * count)]] = float;
};
using Lanes = LanesOf<lane_count>::Type;

[[gnu::always_inline]] inline void read_lanes(Lanes& to, const float* from) {
  __builtin_memcpy(&to, from, sizeof to);
}

/// f(f(...), ...) of all numbers; f takes two vectors of any width.
template <class F>
[[gnu::always_inline]] inline float folded(const Lanes& x, const F& f) {
  const LanesOf<8>::Type a = f(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7),
                               __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15));
  const LanesOf<4>::Type b =
      f(__builtin_shufflevector(a, a, 0, 1, 2, 3), __builtin_shufflevector(a, a, 4, 5, 6, 7));
  const LanesOf<4>::Type c = f(b, __builtin_shufflevector(b, b, 2, 3, 0, 1));
  return f(c, __builtin_shufflevector(c, c, 1, 0, 3, 2))[0];
}

}  // namespace millrace::kernels
