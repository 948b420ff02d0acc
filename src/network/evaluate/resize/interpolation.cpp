#include "network/evaluate/resize/interpolation.h"

#include <algorithm>
#include <cmath>

namespace millrace::network {
namespace {

struct AxisGeometry {
  double scale = 1, roi_start = 0, roi_end = 1;
  std::int64_t in = 1, out = 1;
};

/// Rounding of the scale must not move a coordinate off the whole or half number it stands for.
double snapped(double x) {
  const double half = std::nearbyint(2 * x) / 2;
  return std::fabs(x - half) <= 1e-6 * (1 + std::fabs(x)) ? half : x;
}

/// Where output position i lies in the input. `wide` is the exact, not rounded, output size.
double coordinate(Coordinates kind, const AxisGeometry& g, std::int64_t i) {
  const auto x = static_cast<double>(i);
  const double last = static_cast<double>(g.in - 1);
  const double wide = g.scale * static_cast<double>(g.in);
  switch (kind) {
    case Coordinates::align_corners:
      return g.out == 1 ? 0 : snapped(x * last / (wide - 1));
    case Coordinates::asymmetric:
      return snapped(x / g.scale);
    case Coordinates::tf_half_pixel_for_nn:
      return snapped((x + 0.5) / g.scale);
    case Coordinates::tf_crop_and_resize:
      if (g.out == 1) return snapped((g.roi_start + g.roi_end) * last / 2);
      return snapped(g.roi_start * last + x * (g.roi_end - g.roi_start) * last / (wide - 1));
    case Coordinates::pytorch_half_pixel:
      if (g.out == 1) return 0;
      break;
    case Coordinates::half_pixel_symmetric: {
      const double middle = static_cast<double>(g.in) / 2;
      const double moved = middle * (1 - static_cast<double>(g.out) / wide);
      return snapped(moved + (x + 0.5) / g.scale - 0.5);
    }
    case Coordinates::half_pixel:
      break;
  }
  return snapped((x + 0.5) / g.scale - 0.5);
}

double nearest(NearestMode mode, double x) {
  switch (mode) {
    case NearestMode::round_prefer_floor:
      return std::ceil(x - 0.5);
    case NearestMode::round_prefer_ceil:
      return std::floor(x + 0.5);
    case NearestMode::floor:
      return std::floor(x);
    default:
      return std::ceil(x);
  }
}

/// A tent, or Keys' kernel; 0 from `reach` on.
double weight_at(const Resize& op, double distance) {
  const double d = std::fabs(distance), a = op.cubic_a;
  if (op.mode == ResizeMode::linear) return std::max(0.0, 1 - d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// Reach of the kernels as they are, at scale 1.
double reach(ResizeMode mode) { return mode == ResizeMode::linear ? 1 : 2; }

/// By how much elements are closer to the kernel's middle than they lie in the input.
double narrowed(const Resize& op, double scale) { return op.antialias ? std::min(1.0, scale) : 1; }

std::size_t taps_of(const Resize& op, double scale) {
  if (op.mode == ResizeMode::nearest) return 1;
  return 2 * static_cast<std::size_t>(std::ceil(reach(op.mode) / narrowed(op, scale)));
}

/// Appends the taps of one output that lies at x.
void add_taps(const Resize& op, double x, const AxisGeometry& g, Interpolation& result) {
  const double last = static_cast<double>(g.in - 1);
  if (op.mode == ResizeMode::nearest) {
    const double at = nearest(op.nearest, x);
    result.positions.push_back(static_cast<std::int64_t>(std::clamp(at, 0.0, last)));
    result.weights.push_back(1);
    return;
  }
  const double scale = narrowed(op, g.scale);
  const double first = std::floor(x) - static_cast<double>(result.taps / 2 - 1);
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t tap = 0; tap < result.taps; ++tap) {
    const double at = first + static_cast<double>(tap);
    const bool counts = !op.exclude_outside || (at >= 0 && at <= last);
    weights.push_back(counts ? weight_at(op, (at - x) * scale) : 0);
    sum += weights.back();
    result.positions.push_back(static_cast<std::int64_t>(std::clamp(at, 0.0, last)));
  }
  const bool divides = (op.exclude_outside || scale < 1) && sum != 0;
  for (const double weight : weights) result.weights.push_back(divides ? weight / sum : weight);
}

Interpolation interpolation(const Resize& op, const AxisGeometry& g) {
  Interpolation result;
  const bool crop = op.coordinates == Coordinates::tf_crop_and_resize;
  result.identity = g.in == g.out && g.scale == 1 && !crop;
  if (result.identity) return result;
  result.taps = taps_of(op, g.scale);
  for (std::int64_t i = 0; i < g.out; ++i) {
    const double found = coordinate(op.coordinates, g, i);
    const double x = std::isnan(found) ? 0 : found;  // 0 / 0, for a size of one that is cropped
    result.outside.push_back(crop && (x < 0 || x > static_cast<double>(g.in - 1)));
    add_taps(op, x, g, result);
  }
  return result;
}

}  // namespace

std::vector<Interpolation> interpolations(const Resize& op, std::span<const std::int64_t> in,
                                          std::span<const std::int64_t> out) {
  const std::size_t rank = out.size();
  std::vector<Interpolation> ways;
  for (std::size_t d = 0; d < rank; ++d) {
    AxisGeometry geometry{op.scales[d], 0, 1, in[d], out[d]};
    if (op.roi.size() == 2 * rank) {
      geometry.roi_start = op.roi[d];
      geometry.roi_end = op.roi[d + rank];
    }
    ways.push_back(interpolation(op, geometry));
  }
  return ways;
}

}  // namespace millrace::network
