#pragma once
// Numbers of a tile under windows, laid so that each position of the kernel is a shift.
#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/tile/tile_windows.h"

namespace millrace::kernels {

inline constexpr std::int64_t slide_slack = 64;  // results at once, or fewer

/// Some rows and columns of the output.
struct SlidePart {
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;
};

/// The numbers under a part's windows, padding too, so that each position of the kernel is a shift:
/// under strides the rows and columns that lie a stride apart are put side by side.
struct SlideLayout {
  std::array<std::int64_t, 2> phases{1, 1};
  std::int64_t rows = 0, pitch = 0;  // of each phase
  std::int64_t size() const { return phases[0] * phases[1] * rows * pitch; }
  std::int64_t offset(std::int64_t phase_row, std::int64_t phase_column) const {
    return (phase_row * phases[1] + phase_column) * rows * pitch;
  }
};

inline SlideLayout layout_of(const TileWindows& w, std::int64_t rows, std::int64_t columns) {
  SlideLayout layout;
  std::array<std::int64_t, 2> shifts{};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t reach = (w.kernel[i] - 1) * w.dilations[i];
    layout.phases[i] = std::min(w.strides[i], reach + 1);
    shifts[i] = reach / w.strides[i];
  }
  layout.rows = rows + shifts[0];
  layout.pitch = columns + shifts[1];
  return layout;
}

/// Where each position of the kernel finds its numbers.
inline void write_taps(const TileWindows& w, const SlideLayout& layout, std::int64_t* offsets) {
  for (std::int64_t y = 0; y < w.kernel[0]; ++y)
    for (std::int64_t x = 0; x < w.kernel[1]; ++x) {
      const std::int64_t down = y * w.dilations[0], right = x * w.dilations[1];
      *offsets++ = layout.offset(down % w.strides[0], right % w.strides[1]) +
                   down / w.strides[0] * layout.pitch + right / w.strides[1];
    }
}

/// `count` numbers that lie a stride apart, side by side.
void spread_out(float* to, const float* from, std::int64_t stride, std::int64_t count);

struct SlideSource {
  const TilePlanes& input;
  const TileWindows& windows;
  float padding = 0;
};

/// Writes what a part's windows read, phase by phase.
struct SlideFill {
  const SlideSource& source;
  const SlideLayout& layout;
  SlidePart part;

  void fill(const float* plane, float* numbers) const {
    for (std::int64_t y = 0; y < layout.phases[0]; ++y)
      for (std::int64_t r = 0; r < layout.rows; ++r)
        fill_row(plane, numbers + layout.offset(y, 0) + r * layout.pitch,
                 (part.row + r) * source.windows.strides[0] - source.windows.pads[0] + y);
  }

  /// Fills a row for all phases of columns; those of one phase of rows follow each other.
  void fill_row(const float* plane, float* to, std::int64_t row) const {
    const bool inside = row >= 0 && row < source.input.rows;
    const std::int64_t begin = part.column * source.windows.strides[1] - source.windows.pads[1];
    for (std::int64_t x = 0; x < layout.phases[1]; ++x, to += layout.rows * layout.pitch)
      if (inside)
        fill_phase(plane + row * source.input.row_stride, begin + x, to);
      else
        std::fill_n(to, layout.pitch, source.padding);
  }

  void fill_phase(const float* row, std::int64_t begin, float* to) const {
    const std::int64_t stride = source.windows.strides[1], columns = source.input.columns;
    const std::int64_t from = begin >= 0 ? 0 : (-begin + stride - 1) / stride;
    const std::int64_t end = begin >= columns ? 0 : (columns - 1 - begin) / stride + 1;
    const std::int64_t first = std::min(from, layout.pitch);
    const std::int64_t last = std::clamp(end, first, layout.pitch);
    std::fill(to, to + first, source.padding);
    if (last > first) spread_out(to + first, row + begin + first * stride, stride, last - first);
    std::fill(to + last, to + layout.pitch, source.padding);
  }
};

}  // namespace millrace::kernels
