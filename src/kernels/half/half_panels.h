#pragma once
// Inside half_convolution.h: how the depth of sums is cut, and where packed weights lie.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "kernels/half/half_convolution.h"

namespace millrace::kernels {

inline constexpr std::size_t half_lanes = 8;   // numbers of a vector
inline constexpr std::size_t half_panel = 16;  // outputs of a panel: two vectors
inline constexpr std::size_t most_half_products = 64;

/// The numbers under a window fall into steps, whose weights stay in the caches, and these into
/// blocks, which are summed up in float16. All are multiples of a vector.
struct HalfDepth {
  explicit HalfDepth(std::size_t numbers, std::size_t products = most_half_products)
      : all(round_up(numbers, half_lanes)),
        steps(divided_up(all, most_of_step)),
        step(round_up(divided_up(all, steps), half_lanes)),
        block(round_up(divided_up(step, divided_up(step, products)), half_lanes)) {}
  /// Where the block with this number ends.
  std::size_t end_of_block(std::size_t number) const {
    const std::size_t first = number / step * step;
    return std::min({first + (number - first) / block * block + block, first + step, all});
  }

  static constexpr std::size_t most_of_step = 768;
  std::size_t all, steps, step, block;
};

struct HalfPanels {
  explicit HalfPanels(const DirectConvolution& c)
      : depth(c.taps() * c.channels_of_group()),
        of_group(divided_up(c.outputs_of_group(), half_panel)),
        count(c.groups * of_group) {}
  /// Size of the weights, in bytes: behind them the scales, by output of the panels.
  std::size_t scales() const { return count * depth.all * half_panel * sizeof(Half); }

  HalfDepth depth;
  std::size_t of_group, count;
};

/// Where a weight lies in its panel, counted in numbers. Products of bfloat16 numbers take four of
/// two outputs at once.
inline std::size_t place_in_panel(const HalfConvolution& c, std::size_t k, std::size_t output) {
  if (!is_in_bfloats(c)) return k * half_panel + output;
  return k / 4 * 4 * half_panel + output / 2 * half_lanes + output % 2 * 4 + k % 4;
}

/// A power of two, a float16 number, that magnitudes with this sum are to be divided by. Sums of
/// products of what remains with numbers, rounded up to 64 times, are no larger than the largest of
/// these.
inline float half_scale(double sum_of_magnitudes) {
  constexpr double most = 0.96;  // (1 + 2^-11)^64 is 1.03
  constexpr int lowest = -14, highest = 15;
  if (!(sum_of_magnitudes > 0) || !std::isfinite(sum_of_magnitudes)) return 1;
  int exponent = 0;
  std::frexp(sum_of_magnitudes / most, &exponent);
  return std::ldexp(1.f, std::clamp(exponent, lowest, highest));
}

}  // namespace millrace::kernels
