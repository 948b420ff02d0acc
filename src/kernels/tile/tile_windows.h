#pragma once
// Convolutions and pools of one tile in a fast memory, single-threaded. What lies outside of the
// tile's input counts as padding.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace millrace::kernels {

/// Channels of rows of columns; columns lie side by side. Strides in numbers.
struct TilePlanes {
  std::int64_t channels = 1, rows = 1, columns = 1;
  std::int64_t channel_stride = 0, row_stride = 0;
};

/// Rows, then columns. Pads: before the first row and column of this tile.
struct TileWindows {
  std::array<std::int64_t, 2> kernel{1, 1}, strides{1, 1}, dilations{1, 1}, pads{0, 0};
};

/// y = min(max(x < 0 ? slope * x : x, low), high)
struct TileCurve {
  float slope = 1;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

struct TileConvolution {
  TilePlanes input, output;
  TileWindows windows;
  std::int64_t weight_stride = 0;    // from the weights of an output's channel to those of the next
  bool adds = false;                 // to what lies in the output, else to the bias
  const TileCurve* curve = nullptr;  // of the sums; null: none
};
struct TileTensors {
  const float* input = nullptr;
  const float* weights = nullptr;
  const float* bias = nullptr;  // null: none
  float* output = nullptr;
};
/// output[m] = bias[m] + sum of weights[m][c, window] * input[c, window].
void convolve_tile(const TileConvolution& convolution, const TileTensors& tensors);

/// The same for few channels: windows are not put side by side, but read where they overlap. `adds`
/// is not for these.
void convolve_few(const TileConvolution& convolution, const TileTensors& tensors);

/// Each channel with weights of its own. `adds` is not for these.
void convolve_channels(const TileConvolution& convolution, const TileTensors& tensors);

struct TilePool {
  TilePlanes input, output;
  TileWindows windows;
  bool largest = true;                         // else the average
  bool counts_padding = false;                 // in the divisor
  std::array<std::int64_t, 2> pads_end{0, 0};  // that count as padding, of the last tile
};
void pool_tile(const TilePool& pool, const float* input, float* output);

}  // namespace millrace::kernels
