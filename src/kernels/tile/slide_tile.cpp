#include <algorithm>
#include <limits>

#include "kernels/tile/tile_windows.h"

namespace millrace::kernels {
namespace {

constexpr std::int64_t slide_columns = 256;  // of a row at once

/// Some columns of a row of the output, and the position of the kernel's column.
struct RowPart {
  std::int64_t row = 0, begin = 0, count = 0;
};

/// The columns [first, last) of the part whose windows have their position inside the input.
struct Inside {
  std::int64_t first = 0, last = 0;
};
Inside inside_of(const RowPart& part, std::int64_t stride, std::int64_t shift,
                 std::int64_t columns) {
  // column = (begin + j) * stride + shift
  const std::int64_t from = part.begin * stride + shift;
  const std::int64_t first = from >= 0 ? 0 : (-from + stride - 1) / stride;
  const std::int64_t last = from >= columns ? 0 : (columns - 1 - from) / stride + 1;
  return {std::min(first, part.count), std::clamp<std::int64_t>(last, 0, part.count)};
}

struct StridedNumbers {
  const float* from;
  std::int64_t stride, count;
};

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void add_products(float* to, const StridedNumbers& numbers, float weight) {
  const float* from = numbers.from;
  const std::int64_t stride = numbers.stride, count = numbers.count;
  if (stride == 1)
    for (std::int64_t j = 0; j < count; ++j) to[j] += weight * from[j];
  else if (stride == 2)
    for (std::int64_t j = 0; j < count; ++j) to[j] += weight * from[2 * j];
  else
    for (std::int64_t j = 0; j < count; ++j) to[j] += weight * from[stride * j];
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void take_largest(float* to, const float* from, std::int64_t stride, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j)
    to[j] =
        from[stride * j] > to[j] || from[stride * j] != from[stride * j] ? from[stride * j] : to[j];
}

/// f(row of the input, position of the kernel, columns inside) for the windows of a row's part.
template <class F>
void for_each_position(const TilePlanes& input, const TileWindows& w, const RowPart& part,
                       const F& f) {
  for (std::int64_t y = 0; y < w.kernel[0]; ++y) {
    const std::int64_t row = part.row * w.strides[0] - w.pads[0] + y * w.dilations[0];
    if (row < 0 || row >= input.rows) continue;
    for (std::int64_t x = 0; x < w.kernel[1]; ++x) {
      const std::int64_t shift = x * w.dilations[1] - w.pads[1];
      const Inside inside = inside_of(part, w.strides[1], shift, input.columns);
      if (inside.first >= inside.last) continue;
      const std::int64_t column = (part.begin + inside.first) * w.strides[1] + shift;
      f(row * input.row_stride + column, y * w.kernel[1] + x, inside);
    }
  }
}

/// f(part) for all pieces of the rows of the output.
template <class F>
void for_each_part(const TilePlanes& output, const F& f) {
  for (std::int64_t row = 0; row < output.rows; ++row)
    for (std::int64_t begin = 0; begin < output.columns; begin += slide_columns)
      f(RowPart{row, begin, std::min(slide_columns, output.columns - begin)});
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

void divide(const TilePool& pool, const RowPart& part, float* to) {
  const std::int64_t rows = counted(pool, 0, part.row);
  for (std::int64_t j = 0; j < part.count; ++j)
    to[j] /= static_cast<float>(rows * counted(pool, 1, part.begin + j));
}

}  // namespace

void convolve_channels(const TileConvolution& c, const TileTensors& t) {
  for (std::int64_t channel = 0; channel < c.output.channels; ++channel)
    for_each_part(c.output, [&](const RowPart& part) {
      float* to = t.output + channel * c.output.channel_stride + part.row * c.output.row_stride +
                  part.begin;
      const float* from = t.input + channel * c.input.channel_stride;
      const float* kernel = t.weights + channel * c.weight_stride;
      std::fill_n(to, part.count, t.bias ? t.bias[channel] : 0.0f);
      for_each_position(c.input, c.windows, part,
                        [&](std::int64_t at, std::int64_t position, const Inside& inside) {
                          add_products(
                              to + inside.first,
                              {from + at, c.windows.strides[1], inside.last - inside.first},
                              kernel[position]);
                        });
    });
}

void pool_tile(const TilePool& pool, const float* input, float* output) {
  const float start = pool.largest ? -std::numeric_limits<float>::infinity() : 0.0f;
  for (std::int64_t channel = 0; channel < pool.output.channels; ++channel)
    for_each_part(pool.output, [&](const RowPart& part) {
      float* to = output + channel * pool.output.channel_stride +
                  part.row * pool.output.row_stride + part.begin;
      const float* from = input + channel * pool.input.channel_stride;
      std::fill_n(to, part.count, start);
      for_each_position(
          pool.input, pool.windows, part, [&](std::int64_t at, std::int64_t, const Inside& inside) {
            const std::int64_t count = inside.last - inside.first;
            if (pool.largest)
              take_largest(to + inside.first, from + at, pool.windows.strides[1], count);
            else
              add_products(to + inside.first, {from + at, pool.windows.strides[1], count}, 1);
          });
      if (!pool.largest) divide(pool, part, to);
    });
}

}  // namespace millrace::kernels
