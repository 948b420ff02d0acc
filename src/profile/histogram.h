#pragma once
// How the values of a tensor are distributed, and the range that represents them best.
#include <cstdint>
#include <span>
#include <vector>

#include "network/calibration.h"

namespace millrace::profile {

/// Counts of values by magnitude, in equally wide bins up to the largest one. Exact zeros are left
/// out: every range holds 0 exactly, so they speak for none.
struct Histogram {
  static constexpr std::size_t bin_count = 2048;

  explicit Histogram(const network::Range& seen);
  void add(std::span<const float> values);  // values beyond `seen` fall into the last bins

  network::Range seen;  // smallest and largest value
  float bin_width = 0;
  std::vector<std::int64_t> below, above;  // 0
};

/// The range that leaves (100 - percentile) percent of the values out, half of them on each side;
/// if none is negative, all of them above. 0 < percentile <= 100.
network::Range percentile_range(const Histogram& histogram, double percentile);

/// The range whose 255 steps leave the smallest mean squared error, with what lies beyond it moved
/// to its ends. Both ends are searched for.
network::Range squares_range(const Histogram& histogram);

/// The range, symmetric as far as values go, whose quantised distribution has the smallest
/// Kullback-Leibler divergence from the true one: 128 levels for a sign and 7 bits, 256 for
/// values that are never negative.
network::Range entropy_range(const Histogram& histogram);

}  // namespace millrace::profile
