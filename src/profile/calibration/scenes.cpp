#include "profile/calibration/scenes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace millrace::profile {
namespace {

/// Frames of a camera that stands still correlate by 0.9 and more, other pictures by less than 0.5.
constexpr double one_scene = 0.8;

std::vector<float> numbers_of(const std::vector<network::Array>& frame) {
  std::vector<float> numbers;
  for (const network::Array& array : frame) {
    if (array.type != network::DataType::float32) continue;
    const std::span<const float> values = array.values<float>();
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  return numbers;
}

double mean_pixel(const std::vector<float>& numbers) {
  double sum = 0;
  for (const float number : numbers) sum += double{number};
  return numbers.empty() ? 0 : sum / static_cast<double>(numbers.size());
}

double correlation(const std::vector<float>& a, const std::vector<float>& b) {
  const double mean_a = mean_pixel(a), mean_b = mean_pixel(b);
  double both = 0, of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double x = double{a[i]} - mean_a, y = double{b[i]} - mean_b;
    both += x * y, of_a += x * x, of_b += y * y;
  }
  if (of_a == 0 && of_b == 0) return 1;
  const double correlation = both / std::sqrt(of_a * of_b);
  return std::isfinite(correlation) ? correlation : 0;
}

}  // namespace

double least_correlation(const Samples& samples) {
  if (samples.count < 2) return 1;
  const std::vector<float> first = numbers_of(samples.at(0));
  double least = 1;
  for (std::size_t i = 1; i < samples.count && least >= one_scene; ++i)
    least = std::min(least, correlation(first, numbers_of(samples.at(i))));
  return least;
}

void warn_of_one_scene(const Samples& samples, const Context& context) {
  constexpr const char* advice =
      "ranges of other scenes may be wider; add frames of the scenes that the network will see";
  if (samples.count == 1) context.note(fmt::format("warning: there is one frame; {}", advice));
  if (samples.count < 2) return;
  const double least = least_correlation(samples);
  if (least < one_scene) return;
  context.note(fmt::format(
      "warning: all {} frames show one scene: each correlates with the first by {:.2f} or more; {}",
      samples.count, least, advice));
}

}  // namespace millrace::profile
