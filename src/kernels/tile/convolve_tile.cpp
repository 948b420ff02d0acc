#include <algorithm>
#include <cstring>

#include "kernels/tile/tile_windows.h"

namespace millrace::kernels {
namespace {

constexpr std::int64_t tile_lanes = 16;
constexpr std::int64_t tile_columns = 2 * tile_lanes;  // pixels at once
constexpr std::int64_t tile_depth = 128;               // of a panel
constexpr std::int64_t tile_rows = 4;                  // outputs at once

using TileVector [[gnu::vector_size(sizeof(float) * tile_lanes)]] = float;

/// Numbers of the input under some pixels' windows: a row for each channel and position.
struct TilePanel {
  alignas(64) float numbers[tile_depth * tile_columns];
};

struct PanelWork {
  const float* weights;  // of the first output, from the panel's first row on
  std::int64_t weight_stride, depth;
  float* sums;  // tile_columns for each output
};

template <int rows>
[[gnu::always_inline]] inline void multiply_tile_rows(const PanelWork& work, const float* panel) {
  TileVector sums[rows][2];
  for (int r = 0; r < rows; ++r)
    __builtin_memcpy(&sums[r], work.sums + r * tile_columns, sizeof sums[r]);
  for (std::int64_t k = 0; k < work.depth; ++k, panel += tile_columns) {
    TileVector a, b;
    __builtin_memcpy(&a, panel, sizeof a);
    __builtin_memcpy(&b, panel + tile_lanes, sizeof b);
    for (int r = 0; r < rows; ++r) {
      const float weight = work.weights[r * work.weight_stride + k];
      sums[r][0] += weight * a;
      sums[r][1] += weight * b;
    }
  }
  for (int r = 0; r < rows; ++r)
    __builtin_memcpy(work.sums + r * tile_columns, &sums[r], sizeof sums[r]);
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void multiply_tile_panel(PanelWork work, const float* panel, std::int64_t outputs) {
  for (; outputs >= tile_rows; outputs -= tile_rows) {
    multiply_tile_rows<tile_rows>(work, panel);
    work.weights += tile_rows * work.weight_stride;
    work.sums += tile_rows * tile_columns;
  }
  for (; outputs > 0; --outputs) {
    multiply_tile_rows<1>(work, panel);
    work.weights += work.weight_stride;
    work.sums += tile_columns;
  }
}

/// Some pixels of the output, row by row.
struct TilePixels {
  std::int64_t begin = 0, count = 0;
};

/// Fills panels, multiplies them, and takes sums from the output and back.
class PixelsOfTile {
 public:
  PixelsOfTile(const TileConvolution& c, const float* input) : c_(c), input_(input) {}

  void set(const TilePixels& pixels) {
    pixels_ = pixels;
    for (std::int64_t j = 0; j < pixels.count; ++j) {
      const std::int64_t pixel = pixels.begin + j;
      const std::int64_t row = pixel / c_.output.columns, column = pixel % c_.output.columns;
      places_[j] = row * c_.output.row_stride + column;
      rows_[j] = row * c_.windows.strides[0] - c_.windows.pads[0];
      columns_[j] = column * c_.windows.strides[1] - c_.windows.pads[1];
    }
  }

  /// Rows [k, k + depth) of the sum: channel by channel, in each the positions of the kernel.
  void fill(TilePanel& panel, std::int64_t k, std::int64_t depth) const {
    const std::int64_t kernel = c_.windows.kernel[0] * c_.windows.kernel[1];
    for (std::int64_t i = 0; i < depth; ++i) {
      const std::int64_t channel = (k + i) / kernel, position = (k + i) % kernel;
      fill_row(panel.numbers + i * tile_columns, input_ + channel * c_.input.channel_stride,
               position);
    }
  }

  void take(const float* output, std::int64_t outputs, float* sums) const {
    for (std::int64_t m = 0; m < outputs; ++m)
      for (std::int64_t j = 0; j < pixels_.count; ++j)
        sums[m * tile_columns + j] = output[m * c_.output.channel_stride + places_[j]];
  }
  void give(const float* sums, std::int64_t outputs, float* output) const {
    const bool dense = c_.output.row_stride == c_.output.columns;
    for (std::int64_t m = 0; m < outputs; ++m) {
      float* to = output + m * c_.output.channel_stride;
      const float* from = sums + m * tile_columns;
      if (dense)
        std::copy_n(from, pixels_.count, to + places_[0]);
      else
        for (std::int64_t j = 0; j < pixels_.count; ++j) to[places_[j]] = from[j];
    }
  }

 private:
  void fill_row(float* to, const float* channel, std::int64_t position) const {
    const std::int64_t down = position / c_.windows.kernel[1] * c_.windows.dilations[0];
    const std::int64_t right = position % c_.windows.kernel[1] * c_.windows.dilations[1];
    std::int64_t j = 0;
    while (j < pixels_.count) {
      const std::int64_t run = run_from(j);
      fill_run(to + j, channel, {rows_[j] + down, columns_[j] + right, run});
      j += run;
    }
    std::fill(to + j, to + tile_columns, 0.0f);
  }

  /// Pixels from j on that lie in one row of the output.
  std::int64_t run_from(std::int64_t j) const {
    const std::int64_t left = c_.output.columns - (pixels_.begin + j) % c_.output.columns;
    return std::min(left, pixels_.count - j);
  }

  struct Run {
    std::int64_t row, column, count;
  };
  void fill_run(float* to, const float* channel, const Run& run) const {
    const std::int64_t stride = c_.windows.strides[1], columns = c_.input.columns;
    if (run.row < 0 || run.row >= c_.input.rows)
      return static_cast<void>(std::fill_n(to, run.count, 0.0f));
    const float* row = channel + run.row * c_.input.row_stride;
    const std::int64_t last = run.column + (run.count - 1) * stride;
    if (run.column >= 0 && last < columns) {
      if (stride == 1) return static_cast<void>(std::copy_n(row + run.column, run.count, to));
      for (std::int64_t j = 0; j < run.count; ++j) to[j] = row[run.column + j * stride];
      return;
    }
    for (std::int64_t j = 0; j < run.count; ++j) {
      const std::int64_t column = run.column + j * stride;
      to[j] = column >= 0 && column < columns ? row[column] : 0.0f;
    }
  }

  const TileConvolution& c_;
  const float* input_;
  TilePixels pixels_;
  std::array<std::int64_t, tile_columns> places_ = {}, rows_ = {}, columns_ = {};
};

void start_sums(const float* bias, std::int64_t outputs, float* sums) {
  for (std::int64_t m = 0; m < outputs; ++m)
    std::fill_n(sums + m * tile_columns, tile_columns, bias ? bias[m] : 0.0f);
}

constexpr std::int64_t most_outputs = 128;  // whose sums are kept at once

}  // namespace

void convolve_tile(const TileConvolution& c, const TileTensors& t) {
  TilePanel panel;
  alignas(64) float sums[most_outputs * tile_columns];
  PixelsOfTile pixels(c, t.input);
  const std::int64_t all = c.output.rows * c.output.columns;
  const std::int64_t depth = c.input.channels * c.windows.kernel[0] * c.windows.kernel[1];
  for (std::int64_t begin = 0; begin < all; begin += tile_columns) {
    pixels.set({begin, std::min(tile_columns, all - begin)});
    for (std::int64_t m = 0; m < c.output.channels; m += most_outputs) {
      const std::int64_t outputs = std::min(most_outputs, c.output.channels - m);
      float* to = t.output + m * c.output.channel_stride;
      c.adds ? pixels.take(to, outputs, sums)
             : start_sums(t.bias ? t.bias + m : nullptr, outputs, sums);
      for (std::int64_t k = 0; k < depth; k += tile_depth) {
        const std::int64_t part = std::min(tile_depth, depth - k);
        pixels.fill(panel, k, part);
        multiply_tile_panel({t.weights + m * c.weight_stride + k, c.weight_stride, part, sums},
                            panel.numbers, outputs);
      }
      pixels.give(sums, outputs, to);
    }
  }
}

}  // namespace millrace::kernels
