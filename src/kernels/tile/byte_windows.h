#pragma once
// Convolutions and pools of one tile of 8-bit integers, single-threaded. Sums have 32 bits, modulo
// 2^32. What lies outside of the tile's input counts as padding.
#include "kernels/tile/tile_windows.h"

namespace millrace::kernels {

/// 8-bit integers of either sign; each stands for its distance from `zero`.
struct TileBytes {
  const std::byte* data = nullptr;
  bool is_signed = false;
  std::int32_t zero = 0;
};

/// Padding stands for 0.
struct ByteTileConvolution {
  TilePlanes input, output;  // of the output: the sums
  TileWindows windows;
  std::int64_t weight_stride = 0;  // from the weights of an output's channel to those of the next
  bool by_channel = false;         // each channel of the input has one of the output
  bool adds = false;               // to what lies in the sums, else to the bias
};
struct ByteTileTensors {
  TileBytes input, weights;
  const std::int32_t* bias = nullptr;  // null: none
  std::int32_t* sums = nullptr;
};
/// sums[m] = bias[m] + sum of weights[m][c, window] * input[c, window].
void convolve_bytes(const ByteTileConvolution& convolution, const ByteTileTensors& tensors);

/// The steps of 8-bit results: y = round(sum * factors[m]) + zero, halves to the even number,
/// clamped to the range of the type.
struct TileByteSteps {
  const float* factors = nullptr;  // by channel of the output
  bool is_signed = false;
  std::int32_t zero = 0;
};
struct SumTile {
  TilePlanes planes;
  const std::int32_t* sums = nullptr;
};
struct ByteTile {
  TilePlanes planes;
  std::byte* bytes = nullptr;
};
/// Both have the same channels, rows and columns.
void requantize_tile(const SumTile& from, const TileByteSteps& steps, const ByteTile& to);

/// The largest; `pool.largest` must be set.
void pool_bytes(const TilePool& pool, const TileBytes& input, std::byte* output);

}  // namespace millrace::kernels
