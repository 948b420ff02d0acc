#pragma once
// Convolutions of any windows and groups as products of matrices, in float32, with the channels
// inside: the numbers under some pixels' windows are put side by side and multiplied with panels of
// weights. For processors that oneDNN has no kernels for.
#include <cstddef>
#include <span>
#include <string>

#include "kernels/own_convolution.h"

namespace millrace::kernels {

/// Images may have a depth too. A pad may be negative, as the number that wraps around.
struct DirectConvolution : OwnConvolution {
  WindowAxis depth = {};
  std::size_t groups = 1;  // channels and outputs count all of them
  std::size_t lanes = 4;   // float32 numbers of a vector: 4, 8 or 16

  std::size_t taps() const { return depth.window * height.window * width.window; }
  std::size_t pixels() const { return images * depth.output * height.output * width.output; }
  std::size_t channels_of_group() const { return channels / groups; }
  std::size_t outputs_of_group() const { return outputs / groups; }
};

/// Whether much of the windows lies outside of the images, so that it is faster without that: wide
/// dilations on small images.
bool skips_padding(const DirectConvolution& convolution);

/// In bytes.
std::size_t packed_size(const DirectConvolution& convolution);

/// Convolutions with the same text have the same packed weights.
std::string form_of_weights(const DirectConvolution& convolution);

/// `weights`: row-major outputs, channels of a group, windows; `to`: packed_size() bytes.
void pack_weights(const DirectConvolution& convolution, std::span<const float> weights,
                  std::span<std::byte> to);

struct DirectOperands {
  const float* source = nullptr;
  const float* weights = nullptr;  // packed
  const float* bias = nullptr;     // by output; may be null
  float* result = nullptr;
};

/// Runs on the calling thread and its OpenMP helpers; allocates nothing. Precondition: the machine
/// has vectors of its lanes.
void convolve(const DirectConvolution& convolution, const DirectOperands& operands);

}  // namespace millrace::kernels
