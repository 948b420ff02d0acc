#pragma once
// Inside direct_convolution.h: what becomes of sums when all is added. By functions that are
// inlined only.
#include <cstddef>
#include <limits>

#include "kernels/activate.h"
#include "kernels/lane_products.h"

namespace millrace::kernels {

enum class SumsEnd { more_follows, nothing, clips_below, clips, other };

inline SumsEnd end_of(const OwnConvolution& c) {
  const Activation& a = c.activation;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (a.is_curve() || a.slope != 1 || c.adds_last) return SumsEnd::other;
  if (a.high < infinity) return SumsEnd::clips;
  return a.low > -infinity ? SumsEnd::clips_below : SumsEnd::nothing;
}

/// max(x, low); not a number stays none.
template <class Vector>
[[gnu::always_inline]] inline void clip_below_at(Vector& x, const Vector& low) {
#if defined(__aarch64__)
  asm("fmax %0.4s, %0.4s, %1.4s" : "+w"(x) : "w"(low));
#else
  x = x < low ? low : x;
#endif
}
/// min(x, high)
template <class Vector>
[[gnu::always_inline]] inline void clip_above_at(Vector& x, const Vector& high) {
#if defined(__aarch64__)
  asm("fmin %0.4s, %0.4s, %1.4s" : "+w"(x) : "w"(high));
#else
  x = x > high ? high : x;
#endif
}
/// Both.
template <class Vector>
[[gnu::always_inline]] inline void clip(Vector& x, const Vector& low, const Vector& high) {
  clip_below_at(x, low);
  clip_above_at(x, high);
}

/// From memory, and not unrolled: exponentials of many sums would be much code. Some vectors of
/// sums that follow each other, to `rows` places of as many vectors.
template <class Vector>
struct FinishedRows {
  static constexpr std::size_t lanes = sizeof(Vector) / sizeof(float);
  const OwnConvolution& convolution;
  std::size_t rows, vectors;

#if defined(__aarch64__)
  [[gnu::noinline]]  // it would take registers from the loops that multiply
#else
  [[gnu::always_inline]]
#endif
  void write(const float* sums, float* to, std::size_t stride) const {
    for (std::size_t r = 0; r < rows; ++r, to += stride)
      for (std::size_t v = 0; v < vectors; ++v, sums += lanes) {
        Vector x, added = {};
        read_vector(x, sums);
        if (convolution.adds_last) read_vector(added, to + v * lanes);
        write_vector(to + v * lanes, finished(x, added, convolution));
      }
  }
};

}  // namespace millrace::kernels
