#pragma once
// Grids over the network's input, looked at between their cells.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "application/heads/view.h"

namespace millrace::application {

/// The four cells around a place, and the weights of the later ones.
struct Sample {
  std::int64_t x0 = 0, x1 = 0, y0 = 0, y1 = 0;
  double across = 0, down = 0;

  /// `value(x, y)`: of a cell.
  template <class Value>
  double interpolated(const Value& value) const {
    const double upper = value(x0, y0) * (1 - across) + value(x1, y0) * across;
    const double lower = value(x0, y1) * (1 - across) + value(x1, y1) * across;
    return upper * (1 - down) + lower * down;
  }
};

/// Where the centre of a pixel of the picture lies in a grid of that size over the input.
inline Sample sample_at(std::int64_t x, std::int64_t y, const View& view, const Size& grid) {
  const Point share = view.to_share({static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5});
  const auto inside = [](double value, std::int64_t size) {
    return std::clamp(value * static_cast<double>(size) - 0.5, 0.0, static_cast<double>(size - 1));
  };
  const double column = inside(share.x, grid.width), row = inside(share.y, grid.height);
  Sample sample;
  sample.x0 = static_cast<std::int64_t>(column);
  sample.y0 = static_cast<std::int64_t>(row);
  sample.x1 = std::min(sample.x0 + 1, grid.width - 1);
  sample.y1 = std::min(sample.y0 + 1, grid.height - 1);
  sample.across = column - static_cast<double>(sample.x0);
  sample.down = row - static_cast<double>(sample.y0);
  return sample;
}

}  // namespace millrace::application
