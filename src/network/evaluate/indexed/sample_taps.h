#pragma once
// Which elements a sampled point is made of, along one dimension.
#include <array>
#include <cstddef>
#include <cstdint>

#include "network/operators.h"

namespace millrace::network {

/// Up to four elements of a line, each with its weight. Those outside have the index -1.
struct Taps {
  int count = 0;
  std::array<std::int64_t, 4> index{};
  std::array<double, 4> weight{};
};

/// Taps in a line of so many elements; the coordinate is in [-1, 1], or anywhere.
Taps taps_of(const GridSample& op, std::int64_t size, double coordinate);

/// The cells of a region along one dimension, and the samples in each of them.
struct Cells {
  double begin = 0, cell = 0;
  std::int64_t samples = 1;

  double at(std::int64_t index, std::int64_t sample) const {
    return begin + cell * (static_cast<double>(index) +
                           (static_cast<double>(sample) + 0.5) / static_cast<double>(samples));
  }
};
Cells cells_of(const RoiAlign& op, double from, double to, std::int64_t count);

}  // namespace millrace::network
