#pragma once
// What becomes of the sums of our own convolutions, in vectors of GNU's, by functions that are
// inlined only.
#include "kernels/bend.h"
#include "kernels/own_convolution.h"
#include "kernels/plain/smooth.h"

namespace millrace::kernels {

template <class Vector>
[[gnu::always_inline]] inline Vector activated(Vector x, const Activation& activation) {
  if (activation.swish) return swish(x) * activation.unit;
  if (activation.hard_swish) return hard_swish(x) * activation.unit;
  bend(x, activation);
  return x;
}

/// A sum with its bias; `added`: zeros if the convolution adds nothing.
template <class Vector>
[[gnu::always_inline]] inline Vector finished(Vector x, const Vector& added,
                                              const OwnConvolution& convolution) {
  if (!convolution.adds_last) x += added;
  x = activated(x, convolution.activation);
  return convolution.adds_last ? x + added : x;
}

}  // namespace millrace::kernels
