#pragma once
// Convolutions of 3x3 windows by Winograd's minimal filtering (Lavin and Gray 2016, "Fast
// algorithms for convolutional neural networks"), for images with the channels inside: 2x2 results
// take 16 products instead of 36, 4x4 results 36 instead of 144. An infinite number makes results
// beside its window undefined too.
#include <cstddef>
#include <span>
#include <string>

#include "kernels/own_convolution.h"

namespace millrace::kernels {

/// Windows are 3 wide, strides and dilations 1. Of a float32 source all is float32. Else what is
/// multiplied are integers, with sums of 32 bits that cannot overflow: of 16 bits, more exact than
/// bfloat16 numbers of as many bits, or, of a source of 8 bits in tiles of 2x2, of 8 bits, and then
/// there are at most 65,536 channels. There are 16 lanes, and a bfloat16 or float16 source has a
/// result of its own kind.
struct WinogradConvolution : OwnConvolution {
  std::size_t tile = 4;    // results along each axis that are computed at once: 2 or 4
  std::size_t lanes = 16;  // float32 numbers of a vector: vector_lanes() or fewer
};

/// How an image falls into tiles, and what lies where in the working memory: some tiles at once,
/// brought to their points, and their products with all weights.
struct WinogradTiles {
  explicit WinogradTiles(const WinogradConvolution& convolution);

  std::size_t points = 36;           // of a tile
  std::size_t down = 1, across = 1;  // tiles of an image
  std::size_t count = 1;             // of all images
  std::size_t block = 1;             // that are computed at once
  std::size_t channels = 1;          // vectors of them, of integers in pairs
  std::size_t outputs = 1;           // pairs of vectors of them
  std::size_t together = 1;          // of these, multiplied before any are written: a group or more
  std::size_t point_apart = 1;       // in the tiles, from one point to the next: numbers
  std::size_t product_apart = 1;     // in the products
  std::size_t products = 0, zeros = 0;  // where they begin in the working memory: numbers
  std::size_t working = 0;              // numbers of the working memory
  // For integers:
  std::size_t magnitudes = 0, factors = 0;  // of pixels, of tiles: also in the working memory
  std::size_t scales = 0;                   // behind the weights, by point and output: numbers
  float largest = 0;                        // integer that pixels become at a point

  /// Pairs of vectors of outputs whose weights follow each other at a point: weights lie by group,
  /// then by point, as they are read. It is the same for images of any number and size.
  std::size_t group = 1;
  struct Weights {
    std::size_t point, output;  // a pair
  };
  std::size_t index_of(const Weights& weights) const;
  Weights weights_at(std::size_t index) const;
};

/// In bytes.
std::size_t packed_size(const WinogradConvolution& convolution);

/// Convolutions with the same text have the same packed weights.
std::string form_of_weights(const WinogradConvolution& convolution);

/// `weights`: row-major outputs, channels, 3, 3; `to`: packed_size() bytes.
void pack_weights(const WinogradConvolution& convolution, std::span<const float> weights,
                  std::span<std::byte> to);

struct WinogradOperands {
  const std::byte* source = nullptr;
  const float* weights = nullptr;  // packed
  const float* bias = nullptr;     // by output; may be null
  float* working = nullptr;        // aligned to 64 bytes
  std::byte* result = nullptr;
  float scale = 1;  // of integers: what sums are multiplied with, before the bias
};

/// Whether this build has the loops for integers. Clang takes no vectors of 64 bytes in assembly
/// where it does not know yet which processor they are for.
bool has_integer_loops();

/// Runs on the calling thread and its OpenMP helpers; allocates nothing. `tiles`: of this
/// convolution. Precondition: the machine has vectors of its lanes: 4, 8 or 16; of integers
/// has_integer_loops(), and AVX-512 with VNNI, and for bfloat16 its instructions.
void convolve(const WinogradConvolution& convolution, const WinogradTiles& tiles,
              const WinogradOperands& operands);

}  // namespace millrace::kernels
