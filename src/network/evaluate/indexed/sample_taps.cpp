#include "network/evaluate/indexed/sample_taps.h"

#include <algorithm>
#include <cmath>

namespace millrace::network {
namespace {

constexpr double far_away = 1e9;

/// Positions along one dimension.
struct Line {
  const GridSample& op;
  std::int64_t size;

  double last() const { return static_cast<double>(size - 1); }
  /// From [-1, 1] to elements. What is no number lies outside.
  double position(double coordinate) const {
    const double at = op.align_corners ? (coordinate + 1) / 2 * last()
                                       : ((coordinate + 1) * static_cast<double>(size) - 1) / 2;
    return std::isnan(at) ? -far_away : std::clamp(at, -far_away, far_away);
  }
  double reflected(double at) const {
    const double low = op.align_corners ? 0 : -0.5;
    const double span = op.align_corners ? last() : static_cast<double>(size);
    if (span <= 0) return 0;
    const double beyond = std::fabs(at - low);
    const double rest = std::fmod(beyond, span);
    const bool turned = std::fmod(std::floor(beyond / span), 2) != 0;
    return std::clamp(turned ? low + span - rest : low + rest, 0.0, last());
  }
  /// Where the position is looked up.
  double padded(double at) const {
    if (op.padding == SamplePadding::border) return std::clamp(at, 0.0, last());
    return op.padding == SamplePadding::reflection ? reflected(at) : at;
  }
};

void add_tap(Taps& taps, const Line& line, double at, double weight) {
  const bool inside = at >= 0 && at <= line.last();
  taps.index[static_cast<std::size_t>(taps.count)] = inside ? static_cast<std::int64_t>(at) : -1;
  taps.weight[static_cast<std::size_t>(taps.count++)] = weight;
}

double cubic_weight(double distance) {
  constexpr double a = -0.75;
  const double d = std::fabs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// Regions that reach far beyond the image have more samples than this only to average zeros.
constexpr double most_samples = 1024;

}  // namespace

Taps taps_of(const GridSample& op, std::int64_t size, double coordinate) {
  const Line line{op, size};
  const double at = line.position(coordinate);
  Taps taps;
  if (op.mode == SampleMode::nearest) {
    add_tap(taps, line, std::nearbyint(line.padded(at)), 1);
    return taps;
  }
  if (op.mode == SampleMode::linear) {
    const double place = line.padded(at), base = std::floor(place);
    add_tap(taps, line, base, 1 - (place - base));
    add_tap(taps, line, base + 1, place - base);
    return taps;
  }
  const double base = std::floor(at);
  for (int i = -1; i <= 2; ++i)
    add_tap(taps, line, std::nearbyint(line.padded(base + i)), cubic_weight(at - base - i));
  return taps;
}

Cells cells_of(const RoiAlign& op, double from, double to, std::int64_t count) {
  const double offset = op.half_pixel ? 0.5 : 0;
  const double begin = from * double{op.scale} - offset;
  double length = to * double{op.scale} - offset - begin;
  if (!op.half_pixel) length = std::max(length, 1.0);
  if (!std::isfinite(begin) || !std::isfinite(length)) return {-2, 0, 1};
  const double cell = length / static_cast<double>(count);
  const double wanted =
      op.sampling_ratio > 0 ? static_cast<double>(op.sampling_ratio) : std::ceil(cell);
  return {begin, cell, static_cast<std::int64_t>(std::clamp(wanted, 1.0, most_samples))};
}

}  // namespace millrace::network
