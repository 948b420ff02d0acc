#pragma once
// Inside direct_convolution.h: convolutions tap by tap, without those taps that lie outside of the
// image. Nothing is put side by side.
#include "kernels/direct/direct_convolution.h"

namespace millrace::kernels {

/// Precondition: skips_padding().
void convolve_tap_by_tap(const DirectConvolution& convolution, const DirectOperands& operands);

}  // namespace millrace::kernels
