#pragma once
// The second half of a transposed convolution whose windows do not overlap: the first half is a
// matrix product, which gives every pixel a patch of the result.
#include <cstddef>

#include "kernels/own_convolution.h"

namespace millrace::kernels {

/// An image of `height` x `width` patches, each of `rows` x `columns` pixels of `channels` numbers.
struct Patches {
  std::size_t images = 1, height = 1, width = 1;
  std::size_t rows = 1, columns = 1, channels = 1;
};

/// Puts the patches, which lie one after the other, into images with the channels inside. Adds the
/// bias of each channel, if it is not null, and applies the activation. `from` and `to` are dense
/// and do not overlap. Runs on the calling thread and its OpenMP helpers.
void place_patches(const Patches& patches, const Activation& activation, const float* bias,
                   const float* from, float* to);

}  // namespace millrace::kernels
