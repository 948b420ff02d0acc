#include <algorithm>
#include <cstring>

#include "kernels/bend.h"
#include "kernels/plain/lanes.h"
#include "kernels/tile/tile_windows.h"

namespace millrace::kernels {
namespace {

constexpr std::int64_t tile_columns = 32;   // pixels at once
constexpr std::int64_t tile_depth = 128;    // of a panel
constexpr std::int64_t most_outputs = 128;  // whose sums are kept at once

/// Numbers of the input under some pixels' windows: a row for each channel and position.
struct TilePanel {
  alignas(64) float numbers[tile_depth * tile_columns];
};

struct PanelWork {
  const float* weights;  // of the first output, from the panel's first row on
  std::int64_t weight_stride, depth;
  const float* bias;  // of the first output; null: none
  bool starts;        // else it adds to what lies in the sums
  const TileCurve* curve;
  float* sums;  // tile_columns for each output
  std::int64_t sum_stride;
};

/// Ahead of their use: rows of weights are too short for the hardware to foresee.
template <std::int64_t rows>
[[gnu::always_inline]] inline void fetch_weights(const PanelWork& work) {
  constexpr std::int64_t line = 16;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < work.depth; k += line)
      __builtin_prefetch(work.weights + (rows + r) * work.weight_stride + k);
}

/// Sums that a processor's registers hold: of some outputs, each of some vectors of pixels. Vectors
/// are as wide as a register, and each is copied by itself: else compilers keep them in memory.
template <std::size_t lanes, std::int64_t vectors, std::int64_t rows>
struct TileSums {
  using Vector = typename LanesOf<lanes>::Type;
  static constexpr std::int64_t width = static_cast<std::int64_t>(lanes) * vectors;
  Vector sums[rows][vectors];

  [[gnu::always_inline]] void multiply(const PanelWork& work, const float* panel) {
    read(work);
    for (std::int64_t k = 0; k < work.depth; ++k, panel += tile_columns) {
      Vector x[vectors];
#pragma GCC unroll 8
      for (std::int64_t i = 0; i < vectors; ++i)
        __builtin_memcpy(&x[i], panel + i * lanes, sizeof x[i]);
#pragma GCC unroll 8
      for (std::int64_t r = 0; r < rows; ++r) {
        const float weight = work.weights[r * work.weight_stride + k];
#pragma GCC unroll 8
        for (std::int64_t i = 0; i < vectors; ++i) sums[r][i] += weight * x[i];
      }
    }
    write(work);
  }

 private:
  [[gnu::always_inline]] void read(const PanelWork& work) {
#pragma GCC unroll 8
    for (std::int64_t r = 0; r < rows; ++r)
#pragma GCC unroll 8
      for (std::int64_t i = 0; i < vectors; ++i)
        if (work.starts)
          sums[r][i] = Vector{} + (work.bias ? work.bias[r] : 0.0f);
        else
          __builtin_memcpy(&sums[r][i], work.sums + r * work.sum_stride + i * lanes,
                           sizeof sums[r][i]);
  }
  [[gnu::always_inline]] void write(const PanelWork& work) {
#pragma GCC unroll 8
    for (std::int64_t r = 0; r < rows; ++r)
#pragma GCC unroll 8
      for (std::int64_t i = 0; i < vectors; ++i) {
        if (work.curve) bend(sums[r][i], *work.curve);
        __builtin_memcpy(work.sums + r * work.sum_stride + i * lanes, &sums[r][i],
                         sizeof sums[r][i]);
      }
  }
};

/// Some outputs of all pixels.
template <std::size_t lanes, std::int64_t vectors, std::int64_t rows>
[[gnu::always_inline]] inline void multiply_rows(PanelWork& work, const float* panel) {
  using Sums = TileSums<lanes, vectors, rows>;
  float* const sums = work.sums;
  for (std::int64_t column = 0; column < tile_columns; column += Sums::width) {
    work.sums = sums + column;
    Sums().multiply(work, panel + column);
  }
  work.weights += rows * work.weight_stride;
  work.bias += work.bias ? rows : 0;
  work.sums = sums + rows * work.sum_stride;
}

template <std::size_t lanes, std::int64_t vectors, std::int64_t rows>
[[gnu::always_inline]] inline void multiply_panel(PanelWork work, const float* panel,
                                                  std::int64_t outputs) {
  for (; outputs >= rows; outputs -= rows) {
    if (outputs >= 2 * rows) fetch_weights<rows>(work);
    multiply_rows<lanes, vectors, rows>(work, panel);
  }
  for (; outputs > 0; --outputs) multiply_rows<lanes, vectors, 1>(work, panel);
}

struct PanelProduct {
  const PanelWork& work;
  const float* panel;
  std::int64_t outputs;

  /// NEON has twice the registers of SSE2 and AVX2, and AVX-512 has too.
  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
#if defined(__aarch64__)
    multiply_panel<lanes, 4, 4>(work, panel, outputs);
#else
    multiply_panel<lanes, 2, lanes == lane_count ? 8 : 4>(work, panel, outputs);
#endif
  }
};

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void take_every(float* to, const float* from, std::int64_t stride, std::int64_t count) {
  if (stride == 2)
    for (std::int64_t j = 0; j < count; ++j) to[j] = from[2 * j];
  else
    for (std::int64_t j = 0; j < count; ++j) to[j] = from[stride * j];
}

/// At most tile_columns numbers, without a call: two copies that overlap.
template <std::int64_t size>
[[gnu::always_inline]] inline void copy_ends(float* to, const float* from, std::int64_t count) {
  __builtin_memcpy(to, from, size * sizeof(float));
  __builtin_memcpy(to + count - size, from + count - size, size * sizeof(float));
}
inline void copy_few(float* to, const float* from, std::int64_t count) {
  if (count >= 16) return copy_ends<16>(to, from, count);
  if (count >= 8) return copy_ends<8>(to, from, count);
  if (count >= 4) return copy_ends<4>(to, from, count);
  for (std::int64_t j = 0; j < count; ++j) to[j] = from[j];
}

/// Pixels of the output that follow each other in a row, from the j-th of some on.
struct PixelRun {
  std::int64_t j = 0, row = 0, column = 0, count = 0;
};

/// Fills panels, and takes sums from the output and back.
class PixelsOfTile {
 public:
  PixelsOfTile(const TileConvolution& c, const float* input)
      : c_(c),
        input_(input),
        is_copy_(c.windows.kernel == std::array<std::int64_t, 2>{1, 1} &&
                 c.windows.strides == std::array<std::int64_t, 2>{1, 1} &&
                 c.windows.pads == std::array<std::int64_t, 2>{0, 0} &&
                 c.input.row_stride == c.output.columns && c.input.rows >= c.output.rows) {}

  /// At most tile_columns pixels of the output from this on, row by row.
  void set(std::int64_t begin, std::int64_t count) {
    begin_ = begin;
    count_ = count;
    run_count_ = 0;
    const std::int64_t columns = c_.output.columns;
    for (std::int64_t j = 0; j < count;) {
      const std::int64_t row = (begin + j) / columns, column = (begin + j) % columns;
      const std::int64_t run = std::min(columns - column, count - j);
      runs_[run_count_++] = {j, row, column, run};
      j += run;
    }
  }

  /// Whether their sums can lie where the output is.
  bool is_dense() const {
    return count_ == tile_columns && (run_count_ == 1 || c_.output.row_stride == c_.output.columns);
  }
  std::int64_t first_place() const { return runs_[0].row * c_.output.row_stride + runs_[0].column; }

  /// Rows [k, k + depth) of the sum: channel by channel, in each the positions of the kernel.
  void fill(TilePanel& panel, std::int64_t k, std::int64_t depth) const {
    const std::int64_t kernel = c_.windows.kernel[0] * c_.windows.kernel[1];
    const float* channel = input_ + k / kernel * c_.input.channel_stride;
    std::int64_t position = k % kernel;
    for (std::int64_t i = 0; i < depth; ++i) {
      float* to = panel.numbers + i * tile_columns;
      if (is_copy_ && count_ == tile_columns)
        __builtin_memcpy(to, channel + begin_, tile_columns * sizeof(float));
      else
        fill_row(to, channel, position);
      if (++position < kernel) continue;
      position = 0;
      channel += c_.input.channel_stride;
    }
  }

  void take(const float* output, std::int64_t outputs, float* sums) const {
    for (std::int64_t m = 0; m < outputs; ++m)
      for_each_run([&](const PixelRun& run, std::int64_t place) {
        copy_few(sums + m * tile_columns + run.j, output + m * c_.output.channel_stride + place,
                 run.count);
      });
  }
  void give(const float* sums, std::int64_t outputs, float* output) const {
    for (std::int64_t m = 0; m < outputs; ++m)
      for_each_run([&](const PixelRun& run, std::int64_t place) {
        copy_few(output + m * c_.output.channel_stride + place, sums + m * tile_columns + run.j,
                 run.count);
      });
  }

 private:
  template <class F>
  void for_each_run(const F& f) const {
    for (std::size_t i = 0; i < run_count_; ++i)
      f(runs_[i], runs_[i].row * c_.output.row_stride + runs_[i].column);
  }

  void fill_row(float* to, const float* channel, std::int64_t position) const {
    const TileWindows& w = c_.windows;
    const std::int64_t down = position / w.kernel[1] * w.dilations[0] - w.pads[0];
    const std::int64_t right = position % w.kernel[1] * w.dilations[1] - w.pads[1];
    for (std::size_t i = 0; i < run_count_; ++i) {
      const PixelRun& run = runs_[i];
      fill_run(to + run.j, channel,
               {0, run.row * w.strides[0] + down, run.column * w.strides[1] + right, run.count});
    }
    std::fill(to + count_, to + tile_columns, 0.0f);
  }

  void fill_run(float* to, const float* channel, const PixelRun& run) const {
    const std::int64_t stride = c_.windows.strides[1], columns = c_.input.columns;
    if (run.row < 0 || run.row >= c_.input.rows)
      return static_cast<void>(std::fill_n(to, run.count, 0.0f));
    const float* row = channel + run.row * c_.input.row_stride;
    const std::int64_t last = run.column + (run.count - 1) * stride;
    if (run.column >= 0 && last < columns)
      return stride == 1 ? copy_few(to, row + run.column, run.count)
                         : take_every(to, row + run.column, stride, run.count);
    if (stride == 1 && run.count > 1) return fill_edges(to, row, run);
    for (std::int64_t j = 0; j < run.count; ++j) {
      const std::int64_t column = run.column + j * stride;
      to[j] = column >= 0 && column < columns ? row[column] : 0.0f;
    }
  }

  /// Beside the padding, without strides.
  void fill_edges(float* to, const float* row, const PixelRun& run) const {
    const std::int64_t first = std::clamp<std::int64_t>(-run.column, 0, run.count);
    const std::int64_t last =
        std::clamp<std::int64_t>(c_.input.columns - run.column, first, run.count);
    for (std::int64_t j = 0; j < first; ++j) to[j] = 0.0f;
    copy_few(to + first, row + run.column + first, last - first);
    for (std::int64_t j = last; j < run.count; ++j) to[j] = 0.0f;
  }

  const TileConvolution& c_;
  const float* input_;
  bool is_copy_;  // of pixels that lie side by side
  std::int64_t begin_ = 0, count_ = 0;
  std::size_t run_count_ = 0;
  std::array<PixelRun, tile_columns> runs_ = {};
};

/// Some pixels of all outputs.
class TileStrip {
 public:
  TileStrip(const TileConvolution& c, const TileTensors& t)
      : c_(c),
        t_(t),
        pixels_(c, t.input),
        depth_(c.input.channels * c.windows.kernel[0] * c.windows.kernel[1]) {}

  void convolve(std::int64_t begin, std::int64_t count) {
    pixels_.set(begin, count);
    for (std::int64_t m = 0; m < c_.output.channels; m += most_outputs) {
      const std::int64_t outputs = std::min(most_outputs, c_.output.channels - m);
      float* to = t_.output + m * c_.output.channel_stride;
      if (pixels_.is_dense()) {
        multiply(m, outputs, {to + pixels_.first_place(), c_.output.channel_stride});
        continue;
      }
      if (c_.adds) pixels_.take(to, outputs, sums_);
      multiply(m, outputs, {sums_, tile_columns});
      pixels_.give(sums_, outputs, to);
    }
  }

 private:
  struct Sums {
    float* at;
    std::int64_t stride;
  };
  void multiply(std::int64_t m, std::int64_t outputs, const Sums& sums) {
    const float* weights = t_.weights + m * c_.weight_stride;
    const float* bias = t_.bias ? t_.bias + m : nullptr;
    for (std::int64_t k = 0; k < depth_; k += tile_depth) {
      const std::int64_t part = std::min(tile_depth, depth_ - k);
      // One panel serves all outputs if it holds all of the sum.
      if (m == 0 || depth_ > tile_depth) pixels_.fill(panel_, k, part);
      const PanelWork work{weights + k, c_.weight_stride,   part,
                           bias,        k == 0 && !c_.adds, k + part == depth_ ? c_.curve : nullptr,
                           sums.at,     sums.stride};
      run_in_lanes(PanelProduct{work, panel_.numbers, outputs});
    }
  }

  const TileConvolution& c_;
  const TileTensors& t_;
  PixelsOfTile pixels_;
  std::int64_t depth_;
  TilePanel panel_;
  alignas(64) float sums_[most_outputs * tile_columns];
};

}  // namespace

void convolve_tile(const TileConvolution& c, const TileTensors& t) {
  TileStrip strip(c, t);
  const std::int64_t all = c.output.rows * c.output.columns;
  for (std::int64_t begin = 0; begin < all; begin += tile_columns)
    strip.convolve(begin, std::min(tile_columns, all - begin));
}

}  // namespace millrace::kernels
