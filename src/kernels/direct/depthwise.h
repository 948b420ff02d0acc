#pragma once
// Inside direct_convolution.h: each channel has one output, which it alone makes.
#include <cstddef>
#include <span>

#include "kernels/direct/direct_convolution.h"

namespace millrace::kernels {

/// Images, with as many groups as channels and outputs.
bool is_depthwise(const DirectConvolution& convolution);

/// Numbers of the packed weights: by vector of channels, then by tap.
std::size_t depthwise_weights(const DirectConvolution& convolution);
void pack_depthwise(const DirectConvolution& convolution, std::span<const float> weights,
                    float* packed);

void convolve_depthwise(const DirectConvolution& convolution, const DirectOperands& operands);

}  // namespace millrace::kernels
