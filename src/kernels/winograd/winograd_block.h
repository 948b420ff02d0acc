#pragma once
// Inside winograd.h's convolutions: what is computed at once.
#include <cstddef>

#include "kernels/winograd/winograd.h"

namespace millrace::kernels {

/// Some tiles of a convolution that follow each other, and some pairs of vectors of outputs.
struct WinogradBlock {
  const WinogradConvolution& convolution;
  const WinogradTiles& tiles;
  const WinogradOperands& operands;
  std::size_t first, count;
  std::size_t first_output = 0, outputs = 0;  // pairs
};

/// What is done to all pixels first, and then to all tiles of a block before the next begins, the
/// last two for some outputs after the other.
enum class WinogradPhase { measure, read, multiply, write };

/// Does a phase for these: pixels of the images, tiles, or points with the block's pairs of output
/// vectors.
using WinogradRun = void (*)(const WinogradBlock& block, WinogradPhase phase, std::size_t first,
                             std::size_t last);

/// Channels whose products are summed up as integers, before they are added as float32 numbers: the
/// fewer, the larger the factors may be.
inline constexpr std::size_t integer_channels = 128;

/// Factors that lie side by side in 32 bits: one float32 number, or two or four integers.
constexpr std::size_t factors_in_place(const WinogradConvolution& c) {
  if (c.source == StoredNumber::f32) return 1;
  return !is_half(c.source) && c.tile == 2 ? 4 : 2;
}

/// Tiles that the registers hold with two vectors of outputs each: a piece of a block.
constexpr std::size_t tiles_of_piece(std::size_t lanes, std::size_t factors) {
  if (lanes == 16) return factors == 1 ? 14 : factors == 2 ? 10 : 12;
#if !defined(__x86_64__)
  if (lanes == 4) return 8;  // 32 registers, of which 8 hold pixels
#endif
  return 6;  // 16 registers
}

}  // namespace millrace::kernels
