#pragma once
// What a convolution's activation makes of its sums.
#include "kernels/tile/tile_windows.h"

namespace millrace::kernels {

/// Vectors of any width; for functions that are inlined only.
template <class Vector>
[[gnu::always_inline]] inline void bend(Vector& x, const TileCurve& curve) {
  x = x < 0 ? x * curve.slope : x;
  x = x < curve.low ? Vector{} + curve.low : x;
  x = x > curve.high ? Vector{} + curve.high : x;
}

}  // namespace millrace::kernels
