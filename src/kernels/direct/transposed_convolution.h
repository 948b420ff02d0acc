#pragma once
// Transposed convolutions, in float32, with the channels inside. The results fall into phases, as
// many along an axis as its stride. Each phase is a convolution of the input; all are one, whose
// results are then put into their places.
#include <cstddef>
#include <span>
#include <string>

#include "kernels/direct/direct_convolution.h"

namespace millrace::kernels {

/// WindowAxis: `input` and `output` as they are, `pad` of the result. Images may have a depth too.
/// Nothing is added, and nothing stands for other numbers.
struct TransposedConvolution : OwnConvolution {
  WindowAxis depth = {};
  std::size_t groups = 1;
  std::size_t lanes = 4;
};

/// What makes all phases: at each place of its result all of a group's, each with all its outputs.
DirectConvolution phases_of(const TransposedConvolution& convolution);

/// Size of the packed weights of phases_of(), in bytes.
std::size_t packed_size(const TransposedConvolution& convolution);
std::string form_of_weights(const TransposedConvolution& convolution);
/// `weights`: row-major channels, outputs of a group, windows.
void pack_weights(const TransposedConvolution& convolution, std::span<const float> weights,
                  std::span<std::byte> to);

/// From phases to results; `bias`: by output, may be null. Runs on the calling thread and its
/// OpenMP helpers.
void place_phases(const TransposedConvolution& convolution, const float* bias, const float* phases,
                  float* result);

}  // namespace millrace::kernels
