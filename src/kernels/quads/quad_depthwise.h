#pragma once
// Inside quad_convolution.h: each channel has one output, which it alone makes.
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/quads/quad_convolution.h"

namespace millrace::kernels {

/// Bytes of the packed weights and the sums of weights.
std::size_t packed_depthwise_size(const QuadConvolution& convolution);
/// `weights`: by channel, then by tap. `to`: zeros.
void pack_depthwise(const QuadConvolution& convolution, std::span<const std::int8_t> weights,
                    std::byte* to);
void convolve_depthwise(const QuadConvolution& convolution, const QuadOperands& operands);

}  // namespace millrace::kernels
