#pragma once
// Vectors of GNU's of any width, by functions that are inlined only: what an activation makes of
// sums, and ends of rows that fill a part of a vector. Loops over single numbers would not do:
// GCC 12 makes a branch of an activation for AVX2.
#include <cstddef>

namespace millrace::kernels {

/// min(max(x < 0 ? slope * x : x, low), high); not a number stays none.
template <class Vector, class Curve>
[[gnu::always_inline]] inline void bend(Vector& x, const Curve& curve) {
  x = x < 0 ? x * curve.slope : x;
  x = x < curve.low ? Vector{} + curve.low : x;
  x = x > curve.high ? Vector{} + curve.high : x;
}

/// work(first, count) for each vector of a row; only the last one may have fewer than all numbers.
template <std::size_t lanes, class Work>
[[gnu::always_inline]] inline void for_each_vector(std::size_t numbers, const Work& work) {
  std::size_t i = 0;
  for (; i + lanes <= numbers; i += lanes) work(i, lanes);
  if (i < numbers) work(i, numbers - i);
}

/// The first `count` numbers; the others are left as they are.
template <class Vector>
[[gnu::always_inline]] inline void read_first(Vector& to, const float* from, std::size_t count) {
  __builtin_memcpy(&to, from, count * sizeof(float));
}
template <class Vector>
[[gnu::always_inline]] inline void write_first(float* to, const Vector& from, std::size_t count) {
  __builtin_memcpy(to, &from, count * sizeof(float));
}

}  // namespace millrace::kernels
