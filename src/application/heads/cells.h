#pragma once
// Cells of the grids over a network's input, and boxes around their places.
#include <array>
#include <cmath>

#include "application/heads/head.h"

namespace millrace::application {

/// Column and row of a cell, and the stride of its grid.
struct Cell {
  double column = 0, row = 0, stride = 0;
};

/// Grid by grid, row by row.
inline std::vector<Cell> cells_in(const std::vector<std::int64_t>& strides, const Size& input) {
  std::vector<Cell> cells;
  for (const std::int64_t stride : strides) {
    const std::int64_t columns = (input.width + stride - 1) / stride;
    for (std::int64_t i = 0; i < cells_of(input, stride); ++i)
      cells.push_back({static_cast<double>(i % columns), static_cast<double>(i / columns),
                       static_cast<double>(stride)});
  }
  return cells;
}

/// Eyes, nose, corners of the mouth.
inline constexpr std::int64_t face_keypoints = 5;

/// Left, top, right, bottom.
using Sides = std::array<double, 4>;

/// The box whose sides have these distances from a place; all in pixels of the input.
inline Candidate around(const Point& place, const Sides& distances, const Size& input) {
  const auto wide = static_cast<double>(input.width), high = static_cast<double>(input.height);
  const auto& [left, top, right, bottom] = distances;
  Candidate box;
  box.x = (place.x + (right - left) / 2) / wide;
  box.y = (place.y + (bottom - top) / 2) / high;
  box.width = (left + right) / wide;
  box.height = (top + bottom) / high;
  return box;
}

/// Unless a number of it is none.
inline void add_finite(const Candidate& box, MostProbable& found) {
  if (!std::isfinite(box.x * box.y * box.width * box.height) || !std::isfinite(box.angle)) return;
  if (found.takes(box.probability)) found.add(box);
}

}  // namespace millrace::application
