#include "kernels/direct/window_rows.h"

#include <algorithm>
#include <cstring>

#include "kernels/lane_products.h"

namespace millrace::kernels {
namespace {

/// Most runs are too short for a call.
inline void copy_numbers(float* to, const float* from, std::size_t count) {
  constexpr std::size_t at_once = 4, worth_a_call = 64;
  if (count >= worth_a_call) {
    std::memcpy(to, from, count * sizeof(float));
    return;
  }
  if (count < at_once) {
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  LanesOf<at_once>::Type some, more;
  const std::size_t last = count - at_once;
  std::size_t i = 0;
  for (; i + at_once < last; i += 2 * at_once) {
    read_vector(some, from + i);
    read_vector(more, from + i + at_once);
    write_vector(to + i, some);
    write_vector(to + i + at_once, more);
  }
  if (i < last) {
    read_vector(some, from + i);
    write_vector(to + i, some);
  }
  read_vector(some, from + last);
  write_vector(to + last, some);
}

/// As many vectors as cover `count` numbers.
template <std::size_t vectors>
inline void copy_vectors(float* to, const float* from, std::size_t count) {
  LanesOf<4>::Type some[vectors];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < vectors; ++i)
    read_vector(some[i], from + (i + 1 < vectors ? 4 * i : count - 4));
#pragma GCC unroll 8
  for (std::size_t i = 0; i < vectors; ++i)
    write_vector(to + (i + 1 < vectors ? 4 * i : count - 4), some[i]);
}

bool is_one(const WindowAxis& axis) {
  return axis.window == 1 && axis.stride == 1 && axis.pad == 0 && axis.input == axis.output;
}

}  // namespace

ResultPixel pixel_at(const DirectConvolution& c, std::size_t index) {
  ResultPixel pixel;
  pixel.x = index % c.width.output;
  index /= c.width.output;
  pixel.y = index % c.height.output;
  index /= c.height.output;
  pixel.z = index % c.depth.output;
  pixel.image = index / c.depth.output;
  return pixel;
}

ResultPixel next(const DirectConvolution& c, ResultPixel pixel) {
  if (++pixel.x < c.width.output) return pixel;
  pixel.x = 0;
  if (++pixel.y < c.height.output) return pixel;
  pixel.y = 0;
  if (++pixel.z < c.depth.output) return pixel;
  pixel.z = 0;
  ++pixel.image;
  return pixel;
}

WindowRows::WindowRows(const DirectConvolution& convolution, const float* source, std::size_t group)
    : c_(convolution),
      source_(source + group * convolution.channels_of_group()),
      channels_(convolution.channels_of_group()),
      taps_of_run_(convolution.groups == 1 && convolution.width.dilation == 1
                       ? convolution.width.window
                       : 1) {}

bool WindowRows::are_pixels() const {
  return channels_ % 4 == 0 && is_one(c_.depth) && is_one(c_.height) && is_one(c_.width);
}

WindowRows::Run WindowRows::first_run(const ResultPixel& pixel) const {
  const auto at = [](const WindowAxis& axis, std::size_t output) {
    return output * axis.stride - axis.pad;  // or below zero
  };
  return {pixel.image, at(c_.depth, pixel.z), at(c_.height, pixel.y), at(c_.width, pixel.x)};
}

WindowRows::Run WindowRows::run_at(const ResultPixel& pixel, std::size_t index) const {
  const std::size_t runs = c_.width.window / taps_of_run_, row = index / runs;
  Run run = first_run(pixel);
  run.z += row / c_.height.window * c_.depth.dilation;
  run.y += row % c_.height.window * c_.height.dilation;
  run.x += index % runs * taps_of_run_ * c_.width.dilation;
  return run;
}

bool WindowRows::is_outside(const Run& run) const {
  return run.z >= c_.depth.input || run.y >= c_.height.input;
}

bool WindowRows::is_inside(const Run& first) const {
  const auto lies = [](const WindowAxis& axis, std::size_t begin) {
    const std::size_t reach = (axis.window - 1) * axis.dilation;
    return begin < axis.input && reach < axis.input - begin;
  };
  return lies(c_.depth, first.z) && lies(c_.height, first.y) && lies(c_.width, first.x);
}

const float* WindowRows::place_of(const Run& run) const {
  const std::size_t row = (run.image * c_.depth.input + run.z) * c_.height.input + run.y;
  return source_ + (row * c_.width.input + run.x) * c_.channels;
}

template <class Copy>
void WindowRows::copy_inside(const float* from, float* to, const Copy& copy_run) const {
  const std::size_t size = taps_of_run_ * channels_;
  const std::size_t column = c_.width.dilation * c_.channels;
  const std::size_t row = c_.height.dilation * c_.width.input * c_.channels;
  const std::size_t plane = c_.depth.dilation * c_.height.input * c_.width.input * c_.channels;
  for (std::size_t z = 0; z < c_.depth.window; ++z, from += plane)
    for (std::size_t y = 0; y < c_.height.window; ++y)
      for (std::size_t x = 0; x < c_.width.window; x += taps_of_run_, to += size)
        copy_run(to, from + y * row + x * column, size);
}

void WindowRows::copy(const ResultPixel& pixel, float* to) const {
  const Run first = first_run(pixel);
  if (!is_inside(first)) return copy(pixel, 0, depth(), to);
  const float* const from = place_of(first);
  const std::size_t size = taps_of_run_ * channels_;
  if (size < 4) return copy_inside(from, to, copy_numbers);
  switch (divided_up(size, 4)) {  // for few channels, the first ones of a network
    case 3:
      return copy_inside(from, to, copy_vectors<3>);
    case 4:
      return copy_inside(from, to, copy_vectors<4>);
    case 6:
      return copy_inside(from, to, copy_vectors<6>);
    default:
      return copy_inside(from, to, copy_numbers);
  }
}

void WindowRows::copy(const ResultPixel& pixel, std::size_t first, std::size_t last,
                      float* to) const {
  const std::size_t size = taps_of_run_ * channels_;
  while (first < last) {
    const std::size_t index = first / size, begin = index * size;
    const std::size_t end = std::min(begin + size, last);
    const Run run = run_at(pixel, index);
    copy_run(run, first - begin, end - begin, to);
    to += end - first;
    first = end;
  }
}

void WindowRows::copy_run(Run run, std::size_t first, std::size_t last, float* to) const {
  if (is_outside(run)) return static_cast<void>(std::fill_n(to, last - first, 0.f));
  const std::size_t width = c_.width.input;
  if (run.x < width && taps_of_run_ <= width - run.x)
    return copy_numbers(to, place_of(run) + first, last - first);
  const std::size_t begin = run.x;
  while (first < last) {
    const std::size_t tap = first / channels_, in_tap = first - tap * channels_;
    const std::size_t count = std::min(channels_ - in_tap, last - first);
    run.x = begin + tap;
    if (run.x < width)
      copy_numbers(to, place_of(run) + in_tap, count);
    else
      std::fill_n(to, count, 0.f);
    to += count;
    first += count;
  }
}

}  // namespace millrace::kernels
