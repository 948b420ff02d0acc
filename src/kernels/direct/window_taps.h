#pragma once
// Inside direct_convolution.h: which taps of a window lie in the image.
#include <cstddef>

#include "kernels/own_convolution.h"

namespace millrace::kernels {

struct TapRange {
  std::size_t first, end;
  std::size_t size() const { return end - first; }
};

/// Taps that lie in the image.
inline TapRange taps_inside(const WindowAxis& axis, std::size_t output) {
  const auto inside = [&](std::size_t tap) {
    return output * axis.stride + tap * axis.dilation - axis.pad < axis.input;  // or below zero
  };
  TapRange range{0, axis.window};
  while (range.first < range.end && !inside(range.first)) ++range.first;
  while (range.first < range.end && !inside(range.end - 1)) --range.end;
  return range;
}

/// Outputs for which a tap lies in the image.
inline TapRange outputs_inside(const WindowAxis& axis, std::size_t tap) {
  const auto inside = [&](std::size_t output) {
    return output * axis.stride + tap * axis.dilation - axis.pad < axis.input;  // or below zero
  };
  TapRange range{0, axis.output};
  while (range.first < range.end && !inside(range.first)) ++range.first;
  while (range.first < range.end && !inside(range.end - 1)) --range.end;
  return range;
}

/// Outputs all of whose taps do.
inline TapRange whole_outputs(const WindowAxis& axis) {
  const auto is_whole = [&](std::size_t output) {
    return taps_inside(axis, output).size() == axis.window;
  };
  TapRange range{0, axis.output};
  while (range.first < range.end && !is_whole(range.first)) ++range.first;
  while (range.first < range.end && !is_whole(range.end - 1)) --range.end;
  return range;
}

}  // namespace millrace::kernels
