#include "kernels/integers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace millrace::kernels {
namespace {

constexpr double largest_word = std::numeric_limits<std::int16_t>::max();
constexpr double largest_sum = std::numeric_limits<std::int32_t>::max();

}  // namespace

/// Rounded equally: the magnitudes of an output's weights together reach the largest sum divided by
/// that of pixels.
float largest_of_pixels(std::size_t summed, double gain) {
  const double equal = std::sqrt(gain * largest_sum / static_cast<double>(summed));
  return static_cast<float>(std::floor(std::min(equal, largest_word - 1)));
}

float scale_of_weights(std::span<const double> of_output, std::size_t summed, float largest) {
  double most = 0, largest_of_sums = 0;
  for (std::size_t first = 0; first < of_output.size(); first += summed) {
    double sum = 0;
    for (const double weight :
         of_output.subspan(first, std::min(summed, of_output.size() - first))) {
      sum += std::abs(weight);
      most = std::max(most, std::abs(weight));
    }
    if (!std::isfinite(sum)) return std::numeric_limits<float>::quiet_NaN();
    largest_of_sums = std::max(largest_of_sums, sum);
  }
  const double rounding = static_cast<double>(summed) / 2 + 1;
  const double room = largest_sum / (double{largest} + 1) - rounding;
  return static_cast<float>(std::max({largest_of_sums / room, most / largest_word, 1e-30}));
}

std::int32_t integer_of(double weight, float scale, std::int32_t largest) {
  const double x = std::nearbyint(weight / double{scale});
  const double bound = largest;
  return std::isnan(x) ? 0 : static_cast<std::int32_t>(std::clamp(x, -bound, bound));
}

}  // namespace millrace::kernels
