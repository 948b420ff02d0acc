#include <algorithm>
#include <limits>

#include "kernels/bend.h"
#include "kernels/plain/lanes.h"
#include "kernels/tile/slide_layout.h"

namespace millrace::kernels {

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void spread_out(float* to, const float* from, std::int64_t stride, std::int64_t count) {
  if (stride == 1)
    for (std::int64_t j = 0; j < count; ++j) to[j] = from[j];
  else if (stride == 2)
    for (std::int64_t j = 0; j < count; ++j) to[j] = from[2 * j];
  else
    for (std::int64_t j = 0; j < count; ++j) to[j] = from[stride * j];
}

namespace {

constexpr std::int64_t slide_columns = 256;  // of the output at once
constexpr std::int64_t slide_numbers = 4096;
constexpr std::int64_t slide_taps = 1024;

struct SlideTaps {
  const std::int64_t* offsets;
  const float* weights;  // null: the largest is taken
  std::int64_t count;
  float start;
  std::int64_t weight_step = 1;      // 0: all have the same
  const TileCurve* curve = nullptr;  // of the sums with weights; null: none
};

/// Vectors are as wide as a register, and each is copied by itself: else compilers keep them in
/// memory.
template <std::size_t lanes, std::int64_t vectors>
[[gnu::always_inline]] inline void slide_vectors(const SlideTaps& taps, const float* numbers,
                                                 float* to) {
  using Vector = typename LanesOf<lanes>::Type;
  Vector sums[vectors];
#pragma GCC unroll 8
  for (std::int64_t i = 0; i < vectors; ++i) sums[i] = Vector{} + taps.start;
  for (std::int64_t t = 0; t < taps.count; ++t) {
    const float* from = numbers + taps.offsets[t];
    const float weight = taps.weights[t * taps.weight_step];
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < vectors; ++i) {
      Vector x;
      __builtin_memcpy(&x, from + i * lanes, sizeof x);
      sums[i] += weight * x;
    }
  }
#pragma GCC unroll 8
  for (std::int64_t i = 0; i < vectors; ++i) {
    if (taps.curve) bend(sums[i], *taps.curve);
    __builtin_memcpy(to + i * lanes, &sums[i], sizeof sums[i]);
  }
}

/// Also some results beyond `count`, to fill a vector.
template <std::size_t lanes, std::int64_t vectors>
[[gnu::always_inline]] inline void slide_all(const SlideTaps& taps, const float* numbers, float* to,
                                             std::int64_t count) {
  constexpr std::int64_t width = static_cast<std::int64_t>(lanes) * vectors;
  static_assert(width <= slide_slack);
  std::int64_t i = 0;
  for (; i + width <= count; i += width) slide_vectors<lanes, vectors>(taps, numbers + i, to + i);
  for (; i < count; i += lanes) slide_vectors<lanes, 1>(taps, numbers + i, to + i);
}

struct Slide {
  const SlideTaps& taps;
  const float* numbers;
  float* to;
  std::int64_t count;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    slide_all<lanes, lanes == lane_count ? 4 : 8>(taps, numbers, to, count);
  }
};

void slide(const SlideTaps& taps, const float* numbers, float* to, std::int64_t count) {
  run_in_lanes(Slide{taps, numbers, to, count});
}

/// Position by position of the kernel: compilers turn comparisons into those of vectors in plain
/// loops only.
#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void slide_largest(const SlideTaps& taps, const float* numbers, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = taps.start;
  for (std::int64_t t = 0; t < taps.count; ++t) {
    const float* from = numbers + taps.offsets[t];
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = from[i] > to[i] || from[i] != from[i] ? from[i] : to[i];
  }
}

/// One after the other the parts of an output whose numbers fit on the stack.
class SlidingTile {
 public:
  SlidingTile(const SlideSource& source, const TilePlanes& output)
      : source_(source), output_(output) {
    part_.columns = std::min(slide_columns, output.columns);
    while (part_.columns > 1 && layout_of(source.windows, 1, part_.columns).size() > slide_numbers)
      part_.columns = (part_.columns + 1) / 2;
    part_.rows = output.rows;
    while (part_.rows > 1 && !fits()) part_.rows = (part_.rows + 1) / 2;
    if (part_.rows < output.rows)
      while (part_.rows < output.rows && fits()) ++part_.rows;
    if (part_.rows > 1 && !fits()) --part_.rows;
  }

  /// Else its windows are too large.
  bool is_possible() const {
    return fits() && source_.windows.kernel[0] * source_.windows.kernel[1] <= slide_taps;
  }

  /// finish(part, row of the part, sums, place in the output) for each row of a channel.
  template <class F>
  void run(const SlideTaps& taps, const float* plane, const F& finish) {
    for (std::int64_t row = 0; row < output_.rows; row += part_.rows)
      for (std::int64_t column = 0; column < output_.columns; column += part_.columns) {
        const SlidePart part{row, column, std::min(part_.rows, output_.rows - row),
                             std::min(part_.columns, output_.columns - column)};
        run_part(taps, plane, part, finish);
      }
  }

 private:
  bool fits() const {
    const SlideLayout layout = layout_of(source_.windows, part_.rows, part_.columns);
    return layout.size() <= slide_numbers && part_.rows * layout.pitch <= slide_numbers;
  }

  template <class F>
  void run_part(SlideTaps taps, const float* plane, const SlidePart& part, const F& finish) {
    const SlideLayout layout = layout_of(source_.windows, part.rows, part.columns);
    if (layout.rows != written_.rows || layout.pitch != written_.pitch)
      write_taps(source_.windows, layout, offsets_);
    written_ = layout;
    taps.offsets = offsets_;
    SlideFill{source_, layout, part}.fill(plane, numbers_);
    const auto slides = taps.weights ? slide : slide_largest;
    slides(taps, numbers_, sums_, (part.rows - 1) * layout.pitch + part.columns);
    for (std::int64_t r = 0; r < part.rows; ++r)
      finish(SlidePart{part.row + r, part.column, 1, part.columns}, sums_ + r * layout.pitch);
  }

  const SlideSource& source_;
  const TilePlanes& output_;
  SlidePart part_;
  SlideLayout written_;  // whose taps offsets_ has
  std::int64_t offsets_[slide_taps];
  alignas(64) float numbers_[slide_numbers + slide_slack] = {};
  alignas(64) float sums_[slide_numbers + slide_slack];
};

/// f(number, position of the kernel) of one window, whatever its size.
template <class F>
void for_each_in_window(const SlideSource& source, const float* plane, const SlidePart& at,
                        const F& f) {
  const TileWindows& w = source.windows;
  for (std::int64_t y = 0; y < w.kernel[0]; ++y)
    for (std::int64_t x = 0; x < w.kernel[1]; ++x) {
      const std::int64_t row = at.row * w.strides[0] - w.pads[0] + y * w.dilations[0];
      const std::int64_t column = at.column * w.strides[1] - w.pads[1] + x * w.dilations[1];
      if (row < 0 || row >= source.input.rows || column < 0 || column >= source.input.columns)
        continue;
      f(plane[row * source.input.row_stride + column], y * w.kernel[1] + x);
    }
}

struct SlideWork {
  const SlideTaps& taps;
  const float* plane;
};

/// The same as SlidingTile, number by number.
template <class F>
void slide_one_by_one(const SlideSource& source, const TilePlanes& output, const SlideWork& work,
                      const F& finish) {
  for (std::int64_t row = 0; row < output.rows; ++row)
    for (std::int64_t column = 0; column < output.columns; ++column) {
      const SlidePart at{row, column, 1, 1};
      float sum = work.taps.start;
      for_each_in_window(source, work.plane, at, [&](float x, std::int64_t position) {
        if (work.taps.weights)
          sum += work.taps.weights[position * work.taps.weight_step] * x;
        else
          sum = x > sum || x != x ? x : sum;
      });
      if (work.taps.curve) bend(sum, *work.taps.curve);
      finish(at, &sum);
    }
}

/// Numbers of the axis in the window of an output, padding of the tensor too if it counts.
std::int64_t counted(const TilePool& pool, std::size_t axis, std::int64_t output) {
  const TileWindows& w = pool.windows;
  const std::int64_t size = axis == 0 ? pool.input.rows : pool.input.columns;
  const std::int64_t begin = output * w.strides[axis] - w.pads[axis];
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < w.kernel[axis]; ++k) {
    const std::int64_t at = begin + k * w.dilations[axis];
    const bool is_number = at >= 0 && at < size;
    const bool is_padding = at < size + pool.pads_end[axis];
    count += is_number || (pool.counts_padding && is_padding) ? 1 : 0;
  }
  return count;
}

/// Most columns beside each other have as many numbers in their windows.
void divide(const TilePool& pool, const SlidePart& part, const float* sums, float* to) {
  const std::int64_t rows = counted(pool, 0, part.row);
  const std::int64_t full = pool.windows.kernel[1];
  const std::int64_t reach = (full - 1) * pool.windows.dilations[1];
  for (std::int64_t j = 0; j < part.columns; ++j) {
    const std::int64_t begin = (part.column + j) * pool.windows.strides[1] - pool.windows.pads[1];
    const bool inside = begin >= 0 && begin + reach < pool.input.columns;
    const std::int64_t columns = inside ? full : counted(pool, 1, part.column + j);
    to[j] = sums[j] / static_cast<float>(rows * columns);
  }
}

}  // namespace

void convolve_channels(const TileConvolution& c, const TileTensors& t) {
  const SlideSource source{c.input, c.windows};
  SlidingTile tile(source, c.output);
  const std::int64_t taps = c.windows.kernel[0] * c.windows.kernel[1];
  for (std::int64_t channel = 0; channel < c.output.channels; ++channel) {
    const float* plane = t.input + channel * c.input.channel_stride;
    float* output = t.output + channel * c.output.channel_stride;
    const SlideTaps work{nullptr, t.weights + channel * c.weight_stride,
                         taps,    t.bias ? t.bias[channel] : 0.0f,
                         1,       c.curve};
    const auto finish = [&](const SlidePart& part, const float* sums) {
      std::copy_n(sums, part.columns, output + part.row * c.output.row_stride + part.column);
    };
    if (tile.is_possible())
      tile.run(work, plane, finish);
    else
      slide_one_by_one(source, c.output, {work, plane}, finish);
  }
}

void pool_tile(const TilePool& pool, const float* input, float* output) {
  const float start = pool.largest ? -std::numeric_limits<float>::infinity() : 0.0f;
  const SlideSource source{pool.input, pool.windows, start};
  SlidingTile tile(source, pool.output);
  const std::int64_t taps = pool.windows.kernel[0] * pool.windows.kernel[1];
  constexpr float one = 1;
  for (std::int64_t channel = 0; channel < pool.output.channels; ++channel) {
    const float* plane = input + channel * pool.input.channel_stride;
    float* channel_output = output + channel * pool.output.channel_stride;
    const SlideTaps work{nullptr, pool.largest ? nullptr : &one, taps, start, 0};
    const auto finish = [&](const SlidePart& part, const float* sums) {
      float* to = channel_output + part.row * pool.output.row_stride + part.column;
      if (pool.largest)
        std::copy_n(sums, part.columns, to);
      else
        divide(pool, part, sums, to);
    };
    if (tile.is_possible())
      tile.run(work, plane, finish);
    else
      slide_one_by_one(source, pool.output, {work, plane}, finish);
  }
}

}  // namespace millrace::kernels
