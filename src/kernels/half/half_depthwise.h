#pragma once
// Inside half_convolution.h: each channel has one output, which it alone makes.
#include <cstddef>
#include <span>

#include "kernels/half/half_convolution.h"

namespace millrace::kernels {

/// Images, with as many groups as channels and outputs, and windows of at most 64 numbers.
bool is_half_depthwise(const HalfConvolution& convolution);

/// In bytes: weights by vector of channels, then by tap; then the channels' scales.
std::size_t half_depthwise_size(const HalfConvolution& convolution);
void pack_half_depthwise(const HalfConvolution& convolution, std::span<const float> weights,
                         std::byte* packed);

#if defined(__aarch64__) && !defined(__clang__)
void convolve_half_depthwise(const HalfConvolution& convolution, const HalfOperands& operands);
#endif

}  // namespace millrace::kernels
