#include "kernels/direct/window_rows.h"

#include <algorithm>
#include <cstring>

namespace millrace::kernels {
namespace {

/// A vector of 16 bytes.
template <class Number>
struct FourWords {
  using Type [[gnu::vector_size(16), gnu::aligned(sizeof(Number)), gnu::may_alias]] = Number;
};
template <class Number>
using Some = typename FourWords<Number>::Type;

template <class Number>
[[gnu::always_inline]] inline const Some<Number>& vector_at(const Number* from) {
  return *reinterpret_cast<const Some<Number>*>(from);
}
template <class Number>
[[gnu::always_inline]] inline Some<Number>& vector_at(Number* to) {
  return *reinterpret_cast<Some<Number>*>(to);
}

/// Most runs are too short for a call.
template <class Number>
inline void copy_numbers(Number* to, const Number* from, std::size_t count) {
  constexpr std::size_t at_once = WindowRows<Number>::in_vector, worth_a_call = 16 * at_once;
  if (count >= worth_a_call) {
    std::memcpy(to, from, count * sizeof(Number));
    return;
  }
  if (count < at_once) {
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  const std::size_t last = count - at_once;
  std::size_t i = 0;
  for (; i + at_once < last; i += 2 * at_once) {
    const Some<Number> some = vector_at(from + i), more = vector_at(from + i + at_once);
    vector_at(to + i) = some;
    vector_at(to + i + at_once) = more;
  }
  if (i < last) vector_at(to + i) = vector_at(from + i);
  vector_at(to + last) = vector_at(from + last);
}

/// As many vectors as cover `count` numbers.
template <std::size_t vectors, class Number>
inline void copy_vectors(Number* to, const Number* from, std::size_t count) {
  constexpr std::size_t at_once = WindowRows<Number>::in_vector;
  Some<Number> some[vectors];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < vectors; ++i)
    some[i] = vector_at(from + (i + 1 < vectors ? at_once * i : count - at_once));
#pragma GCC unroll 8
  for (std::size_t i = 0; i < vectors; ++i)
    vector_at(to + (i + 1 < vectors ? at_once * i : count - at_once)) = some[i];
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

template <class Number>
bool WindowRows<Number>::are_pixels() const {
  return channels_ % in_vector == 0 && is_one(c_.depth) && is_one(c_.height) && is_one(c_.width);
}

template <class Number>
typename WindowRows<Number>::Run WindowRows<Number>::first_run(const ResultPixel& pixel) const {
  const auto at = [](const WindowAxis& axis, std::size_t output) {
    return output * axis.stride - axis.pad;  // or below zero
  };
  return {pixel.image, at(c_.depth, pixel.z), at(c_.height, pixel.y), at(c_.width, pixel.x)};
}

template <class Number>
typename WindowRows<Number>::Run WindowRows<Number>::run_at(const ResultPixel& pixel,
                                                            std::size_t index) const {
  const std::size_t runs = c_.width.window / taps_of_run_, row = index / runs;
  Run run = first_run(pixel);
  run.z += row / c_.height.window * c_.depth.dilation;
  run.y += row % c_.height.window * c_.height.dilation;
  run.x += index % runs * taps_of_run_ * c_.width.dilation;
  return run;
}

template <class Number>
bool WindowRows<Number>::is_outside(const Run& run) const {
  return run.z >= c_.depth.input || run.y >= c_.height.input;
}

template <class Number>
bool WindowRows<Number>::has_whole_rows(const Run& first) const {
  const auto lies = [](const WindowAxis& axis, std::size_t begin) {
    const std::size_t reach = (axis.window - 1) * axis.dilation;
    return begin < axis.input && reach < axis.input - begin;
  };
  return lies(c_.depth, first.z) && lies(c_.height, first.y);
}

template <class Number>
const Number* WindowRows<Number>::place_of(const Run& run) const {
  const std::size_t row = (run.image * c_.depth.input + run.z) * c_.height.input + run.y;
  return source_ + (row * c_.width.input + run.x) * c_.channels;
}

template <class Number>
template <class Copy>
void WindowRows<Number>::copy_whole(const Number* from, const Windows& windows, Number* to,
                                    const Copy& copy_run) const {
  const std::size_t size = taps_of_run_ * channels_, pixel = c_.width.stride * c_.channels;
  const std::size_t row = c_.height.dilation * c_.width.input * c_.channels;
  const std::size_t plane = c_.depth.dilation * c_.height.input * c_.width.input * c_.channels;
  const std::size_t column = c_.width.dilation * c_.channels;
  const std::size_t rows = c_.height.window, runs = c_.width.window / taps_of_run_;
  for (std::size_t i = 0; i < windows.count; ++i, from += pixel, to += windows.apart) {
    Number* at = to;
    const auto copy_plane = [&](const Number* first) __attribute__((always_inline)) {
      for (std::size_t y = 0; y < rows; ++y, first += row)
        for (std::size_t x = 0; x < runs; ++x, at += size) copy_run(at, first + x * column, size);
    };
    for (std::size_t z = 0; z < c_.depth.window; ++z) copy_plane(from + z * plane);
  }
}

template <class Number>
void WindowRows<Number>::copy_whole(const Run& first, const Windows& windows, Number* to) const {
  const Number* const from = place_of(first);
  const std::size_t size = taps_of_run_ * channels_;
  if (size < in_vector) return copy_whole(from, windows, to, copy_numbers<Number>);
  switch (divided_up(size, in_vector)) {  // for few channels, the first ones of a network
    case 2:
      return copy_whole(from, windows, to, copy_vectors<2, Number>);
    case 3:
      return copy_whole(from, windows, to, copy_vectors<3, Number>);
    case 4:
      return copy_whole(from, windows, to, copy_vectors<4, Number>);
    case 6:
      return copy_whole(from, windows, to, copy_vectors<6, Number>);
    default:
      return copy_whole(from, windows, to, copy_numbers<Number>);
  }
}

template <class Number>
void WindowRows<Number>::copy(const Windows& windows, Number* to) const {
  ResultPixel pixel = pixel_at(c_, windows.first);
  for (std::size_t left = windows.count; left > 0;) {
    const Run first = first_run(pixel);
    std::size_t count = 1;
    if (pixel.x >= whole_.first && pixel.x < whole_.end && has_whole_rows(first)) {
      count = std::min(left, whole_.end - pixel.x);
      copy_whole(first, {0, count, windows.apart}, to);
    } else {
      copy(pixel, 0, depth(), to);
    }
    pixel.x += count - 1;
    pixel = next(c_, pixel);
    left -= count;
    to += count * windows.apart;
  }
}

template <class Number>
void WindowRows<Number>::copy(const ResultPixel& pixel, std::size_t first, std::size_t last,
                              Number* to) const {
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

template <class Number>
void WindowRows<Number>::copy_run(Run run, std::size_t first, std::size_t last, Number* to) const {
  if (is_outside(run)) return static_cast<void>(std::fill_n(to, last - first, Number{}));
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
      std::fill_n(to, count, Number{});
    to += count;
    first += count;
  }
}

template class WindowRows<float>;
template class WindowRows<std::uint16_t>;

}  // namespace millrace::kernels
