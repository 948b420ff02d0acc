#pragma once
// Convolutions of 3x3 windows in float16 by Winograd's minimal filtering, as winograd.h, for
// processors of 64-bit ARM that calculate with such numbers. Tiles are brought to their points and
// back in float32. Numbers at points are divided by 32, which is more than they can grow to.
#include <cstddef>
#include <span>
#include <string>

#include "kernels/half/half_convolution.h"

namespace millrace::kernels {

/// Windows are 3 wide, strides and dilations 1. Source, result and what is added are float16.
struct HalfWinograd : OwnConvolution {
  std::size_t tile = 4;  // results along each axis that are computed at once: 2 or 4
};

/// What lies where in the working memory: some tiles at once, brought to their points, and then
/// their products with a panel of weights at all points.
struct HalfTiles {
  explicit HalfTiles(const HalfWinograd& convolution);

  std::size_t points = 36;              // of a tile
  std::size_t down = 1, across = 1;     // tiles of an image
  std::size_t count = 1;                // of all images
  std::size_t block = 1;                // that are computed at once
  std::size_t depth = 8;                // channels of a tile at a point, and zeros
  std::size_t panels = 1;               // of outputs
  std::size_t zeros = 0, products = 0;  // where they begin in the working memory: bytes
  std::size_t working = 0;              // bytes of it
};

/// In bytes.
std::size_t packed_size(const HalfWinograd& convolution);

/// Convolutions with the same text have the same packed weights.
std::string form_of_weights(const HalfWinograd& convolution);

/// `weights`: row-major outputs, channels, 3, 3; `to`: packed_size() bytes.
void pack_weights(const HalfWinograd& convolution, std::span<const float> weights,
                  std::span<std::byte> to);

struct HalfWinogradOperands {
  const Half* source = nullptr;
  const std::byte* weights = nullptr;  // packed; aligned to 4 bytes
  const float* bias = nullptr;         // by output; may be null
  std::byte* working = nullptr;        // aligned to 64 bytes
  Half* result = nullptr;
};

/// Runs on the calling thread and its OpenMP helpers; allocates nothing. `tiles`: of this
/// convolution. Precondition: has_half_products().
void convolve(const HalfWinograd& convolution, const HalfTiles& tiles,
              const HalfWinogradOperands& operands);

}  // namespace millrace::kernels
