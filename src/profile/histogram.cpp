#include "profile/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace millrace::profile {
namespace {

using network::Range;

float magnitude_of(const Range& range) { return std::max(-range.low, range.high); }

/// The magnitude that `left_out` of the values in these bins exceed.
float threshold(const std::vector<std::int64_t>& bins, double left_out, float bin_width) {
  double outside = 0;
  for (std::size_t i = bins.size(); i-- > 0;) {
    const auto count = static_cast<double>(bins[i]);
    if (outside + count > left_out) {
      const double share = (left_out - outside) / count;  // within a bin, spread evenly
      return bin_width * static_cast<float>(static_cast<double>(i + 1) - share);
    }
    outside += count;
  }
  return 0;
}

/// The first `size` bins as `levels` steps see them: each step shows the mean of its bins that hold
/// anything.
std::vector<double> quantised(std::span<const double> bins, std::size_t levels) {
  std::vector<double> result(bins.size(), 0);
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t first = level * bins.size() / levels;
    const std::size_t last = (level + 1) * bins.size() / levels;
    const auto step = bins.subspan(first, last - first);
    const auto used = std::count_if(step.begin(), step.end(), [](double n) { return n > 0; });
    const double sum = std::accumulate(step.begin(), step.end(), 0.0);
    for (std::size_t i = first; i < last; ++i)
      if (bins[i] > 0) result[i] = sum / static_cast<double>(used);
  }
  return result;
}

/// How far what `levels` steps over the first `size` bins show is from what is there, when all that
/// lies beyond falls into the last of them.
double divergence(std::span<const double> bins, std::size_t size, std::size_t levels) {
  constexpr double nearly_none = 1e-9;  // where the steps show nothing and something is
  const double total = std::accumulate(bins.begin(), bins.end(), 0.0);
  const double inside = std::accumulate(bins.begin(), bins.begin() + static_cast<long>(size), 0.0);
  if (inside <= 0) return std::numeric_limits<double>::infinity();
  const std::vector<double> shown = quantised(bins.first(size), levels);
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double there = (bins[i] + (i + 1 == size ? total - inside : 0)) / total;
    if (there > 0) sum += there * std::log(there / std::max(shown[i] / inside, nearly_none));
  }
  return sum;
}

/// A range that ends there on one side of 0, and the values of that side.
struct End {
  float limit = 0;    // a magnitude
  double inside = 0;  // values up to it
  double cut = 0;     // squared error of those beyond, together
};

std::vector<End> ends_of(const std::vector<std::int64_t>& bins, float bin_width, float farthest,
                         int count) {
  if (farthest <= 0) return {End{}};
  std::vector<End> ends;
  for (int i = 1; i <= count; ++i) {
    End end{farthest * static_cast<float>(i) / static_cast<float>(count)};
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
      const double beyond =
          double{bin_width} * (static_cast<double>(bin) + 0.5) - double{end.limit};
      const auto values = static_cast<double>(bins[bin]);
      if (beyond <= 0 || i == count)
        end.inside += values;
      else
        end.cut += values * beyond * beyond;
    }
    ends.push_back(end);
  }
  return ends;
}

/// Within the range a value is off by a step / sqrt(12) on average.
double squared_error(const End& low, const End& high) {
  const double step = (double{low.limit} + double{high.limit}) / 255;
  return low.cut + high.cut + (low.inside + high.inside) * step * step / 12;
}

}  // namespace

Histogram::Histogram(const Range& values)
    : seen(values),
      bin_width(magnitude_of(values) / static_cast<float>(bin_count)),
      below(bin_count),
      above(bin_count) {}

void Histogram::add(std::span<const float> values) {
  if (bin_width <= 0) return;
  const float scale = 1 / bin_width;
  for (const float value : values) {
    if (value == 0) continue;
    const auto bin = std::min(static_cast<std::size_t>(std::abs(value) * scale), bin_count - 1);
    ++(value < 0 ? below : above)[bin];
  }
}

Range percentile_range(const Histogram& histogram, double percentile) {
  const auto count = [](const std::vector<std::int64_t>& bins) {
    return static_cast<double>(std::accumulate(bins.begin(), bins.end(), std::int64_t{0}));
  };
  const double left_out =
      (100 - percentile) / 100 * (count(histogram.below) + count(histogram.above));
  const double per_side = histogram.seen.low < 0 ? left_out / 2 : left_out;
  return {std::max(histogram.seen.low, -threshold(histogram.below, per_side, histogram.bin_width)),
          std::min(histogram.seen.high, threshold(histogram.above, per_side, histogram.bin_width))};
}

Range squares_range(const Histogram& histogram) {
  constexpr int lows = 16, highs = 64;
  const float width = histogram.bin_width;
  const auto below = ends_of(histogram.below, width, -histogram.seen.low, lows);
  const auto above = ends_of(histogram.above, width, histogram.seen.high, highs);
  End low = below.back(), high = above.back();
  for (const End& b : below)
    for (const End& a : above)
      if (squared_error(b, a) < squared_error(low, high)) low = b, high = a;
  return {-low.limit, high.limit};
}

Range entropy_range(const Histogram& histogram) {
  constexpr std::size_t pace = 8;  // bins from one candidate to the next
  const std::size_t levels = histogram.seen.low < 0 ? 128 : 256;
  std::vector<double> bins(Histogram::bin_count);
  for (std::size_t i = 0; i < bins.size(); ++i)
    bins[i] = static_cast<double>(histogram.below[i] + histogram.above[i]);
  std::size_t best = bins.size();
  double smallest = divergence(bins, best, levels);
  for (std::size_t size = bins.size() - pace; size >= levels; size -= pace) {
    const double found = divergence(bins, size, levels);
    if (found < smallest) smallest = found, best = size;
  }
  const float limit = static_cast<float>(best) * histogram.bin_width;
  return {std::max(histogram.seen.low, -limit), std::min(histogram.seen.high, limit)};
}

}  // namespace millrace::profile
