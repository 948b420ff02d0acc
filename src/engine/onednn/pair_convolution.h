#pragma once
// Convolutions in bfloat16 whose factors are 16-bit integers, multiplied in pairs, for images with
// the channels inside. Processors do two to four times as many such products as of bfloat16
// numbers, unless they have tiles for those. The pixels of a window are scaled by their largest
// magnitude, the weights of an output so that no sum can leave 32 bits: as integers.h says.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/onednn/own_convolution.h"

namespace millrace::engine::onednn {

/// Source, result and what is added are bfloat16 numbers. Where a window holds one that is
/// infinite, none, or beyond 1e36, its results are no numbers.
struct PairConvolution : OwnConvolution {};

/// What lies where: of some results that follow each other, the panel, the numbers of their windows
/// as integers, window by window, while all weights pass by once.
struct PairPanels {
  explicit PairPanels(const PairConvolution& convolution);

  /// Numbers that follow each other in the image and in a window: a row of it, or a pixel.
  std::size_t run = 1;
  bool folded = false;      // a run is a row of the window
  std::size_t pairs = 1;    // of a window, the last one perhaps with a zero
  std::size_t apart = 1;    // from one window to the next: numbers of 16 bits
  std::size_t count = 1;    // results of all images
  std::size_t panel = 1;    // that are computed at once
  std::size_t outputs = 1;  // blocks of 32 of them
  std::size_t factors = 0;  // of windows: where they begin in the working memory, bytes
  std::size_t working = 0;  // bytes of the working memory
  std::size_t scales = 0;   // behind the weights, by output: bytes
  float largest = 0;        // integer that pixels become
};

/// In bytes.
std::size_t packed_size(const PairConvolution& convolution);

/// Convolutions with the same text have the same packed weights.
std::string form_of_weights(const PairConvolution& convolution);

/// `weights`: row-major outputs, channels, height, width; `to`: packed_size() bytes.
void pack_weights(const PairConvolution& convolution, std::span<const float> weights,
                  std::span<std::byte> to);

struct PairOperands {
  const std::byte* source = nullptr;
  const std::byte* weights = nullptr;  // packed
  const float* bias = nullptr;         // by output; may be null
  std::byte* working = nullptr;        // aligned to 64 bytes
  std::byte* result = nullptr;
};

/// Runs on the calling thread and, in a ThreadScope with more cores, on its helpers; allocates
/// nothing. `panels`: of this convolution. Precondition: the processor has AVX-512 with VNNI and
/// bfloat16.
void convolve(const PairConvolution& convolution, const PairPanels& panels,
              const PairOperands& operands);

}  // namespace millrace::engine::onednn
