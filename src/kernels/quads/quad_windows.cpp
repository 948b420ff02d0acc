#include "kernels/quads/quad_windows.h"

#include <cstring>

#include "kernels/quads/turned_bytes.h"

namespace millrace::kernels {
namespace {

bool quads_move_by_pixels(const WindowAxis& axis) {
  return axis.window == 1 && axis.stride == 1 && axis.pad == 0 && axis.input == axis.output;
}

/// Whether all of a window that begins there lies in the image.
bool quads_lie_inside(const WindowAxis& axis, std::size_t begin) {
  const std::size_t reach = (axis.window - 1) * axis.dilation;
  return begin < axis.input && reach < axis.input - begin;
}

}  // namespace

QuadWindows::QuadWindows(const QuadConvolution& convolution, const std::byte* source,
                         std::size_t group)
    : c_(convolution),
      source_(reinterpret_cast<const std::uint8_t*>(source) +
              group * convolution.channels_of_group()),
      channels_(convolution.channels_of_group()),
      taps_of_run_(convolution.groups == 1 && convolution.width.dilation == 1
                       ? convolution.width.window
                       : 1),
      turn_(convolution.turns_signs() ? 0x80 : 0),
      outside_(static_cast<std::uint8_t>(convolution.zero())) {}

bool QuadWindows::are_pixels() const {
  return turn_ == 0 && channels_ % shape_of(c_.unit).step == 0 && quads_move_by_pixels(c_.depth) &&
         quads_move_by_pixels(c_.height) && quads_move_by_pixels(c_.width);
}

QuadWindows::Corner QuadWindows::corner_of(std::size_t index) const {
  const auto at = [](const WindowAxis& axis, std::size_t output) {
    return output * axis.stride - axis.pad;
  };
  Corner corner = {};
  corner.x = at(c_.width, index % c_.width.output);
  index /= c_.width.output;
  corner.y = at(c_.height, index % c_.height.output);
  index /= c_.height.output;
  corner.z = at(c_.depth, index % c_.depth.output);
  corner.image = index / c_.depth.output;
  return corner;
}

bool QuadWindows::is_inside(const Corner& corner) const {
  return quads_lie_inside(c_.depth, corner.z) && quads_lie_inside(c_.height, corner.y) &&
         quads_lie_inside(c_.width, corner.x);
}

const std::uint8_t* QuadWindows::place_of(const Corner& corner) const {
  const std::size_t row = (corner.image * c_.depth.input + corner.z) * c_.height.input + corner.y;
  return source_ + (row * c_.width.input + corner.x) * c_.channels;
}

void QuadWindows::write_inside(const std::uint8_t* from, std::uint8_t* to) const {
  const std::size_t size = taps_of_run_ * channels_, across = c_.width.window;
  const std::size_t column = c_.width.dilation * c_.channels;
  const std::size_t row = c_.height.dilation * c_.width.input * c_.channels;
  const std::size_t plane = c_.depth.dilation * c_.height.input * c_.width.input * c_.channels;
  for (std::size_t z = 0; z < c_.depth.window; ++z)
    for (std::size_t y = 0; y < c_.height.window; ++y) {
      const std::uint8_t* at = from + z * plane + y * row;
      for (std::size_t x = 0; x < across; x += taps_of_run_, at += column, to += size)
        copy_turned(at, size, turn_, to);
    }
}

void QuadWindows::write_any(const Corner& corner, std::uint8_t* to) const {
  for (std::size_t tap = 0; tap < c_.taps(); ++tap, to += channels_) {
    const std::size_t row = tap / c_.width.window;
    Corner at = corner;
    at.x += tap % c_.width.window * c_.width.dilation;
    at.y += row % c_.height.window * c_.height.dilation;
    at.z += row / c_.height.window * c_.depth.dilation;
    if (at.x < c_.width.input && at.y < c_.height.input && at.z < c_.depth.input)
      copy_turned(place_of(at), channels_, turn_, to);
    else
      std::memset(to, outside_, channels_);
  }
}

void QuadWindows::write(std::size_t first, std::size_t count, std::uint8_t* to,
                        std::size_t apart) const {
  const std::size_t filled = size();
  Corner corner = corner_of(first);
  std::size_t left = c_.width.output - first % c_.width.output;  // in the row
  for (std::size_t i = 0; i < count; ++i, to += apart) {
    if (is_inside(corner))
      write_inside(place_of(corner), to);
    else
      write_any(corner, to);
    if (filled < apart) std::memset(to + filled, 0, apart - filled);
    corner.x += c_.width.stride;
    if (--left > 0 || i + 1 == count) continue;
    corner = corner_of(first + i + 1);
    left = c_.width.output;
  }
}

}  // namespace millrace::kernels
