// Resize works along one axis after another, the last one first.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "network/evaluate/copy.h"
#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

/// How one axis of the output is made of the input: `taps` positions and weights per output.
struct Interpolation {
  std::size_t taps = 1;
  std::vector<std::int64_t> positions;
  std::vector<double> weights;
  std::vector<bool> outside;  // by output: the value is the extrapolation value
  bool identity = true;
};

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
    case Coordinates::align_corners: return g.out == 1 ? 0 : snapped(x * last / (wide - 1));
    case Coordinates::asymmetric: return snapped(x / g.scale);
    case Coordinates::tf_half_pixel_for_nn: return snapped((x + 0.5) / g.scale);
    case Coordinates::tf_crop_and_resize:
      if (g.out == 1) return snapped((g.roi_start + g.roi_end) * last / 2);
      return snapped(g.roi_start * last + x * (g.roi_end - g.roi_start) * last / (wide - 1));
    case Coordinates::pytorch_half_pixel:
      if (g.out == 1) return 0;
      break;
    case Coordinates::half_pixel: break;
  }
  return snapped((x + 0.5) / g.scale - 0.5);
}

double nearest(NearestMode mode, double x) {
  switch (mode) {
    case NearestMode::round_prefer_floor: return std::ceil(x - 0.5);
    case NearestMode::round_prefer_ceil: return std::floor(x + 0.5);
    case NearestMode::floor: return std::floor(x);
    default: return std::ceil(x);
  }
}

/// Keys' kernel for the four points around; `t` is the distance from the second.
std::array<double, 4> cubic_weights(double t, double a) {
  const auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

/// Appends the taps of one output that lies at x.
void add_taps(const Resize& op, double x, std::int64_t size, Interpolation& result) {
  std::array<double, 4> weights{1, 0, 0, 0};
  double first = 0;
  if (op.mode == ResizeMode::nearest) {
    first = nearest(op.nearest, x);
  } else {
    first = std::floor(x);
    const double t = x - first;
    weights = op.mode == ResizeMode::linear ? std::array<double, 4>{1 - t, t, 0, 0}
                                            : cubic_weights(t, op.cubic_a);
    if (op.mode == ResizeMode::cubic) first -= 1;
  }
  double sum = 0;
  const double last = static_cast<double>(size - 1);
  for (std::size_t tap = 0; tap < result.taps; ++tap) {
    const double at = first + static_cast<double>(tap);
    if (op.exclude_outside && op.mode != ResizeMode::nearest && (at < 0 || at > last))
      weights[tap] = 0;
    sum += weights[tap];
    result.positions.push_back(static_cast<std::int64_t>(std::clamp(at, 0.0, last)));
  }
  for (std::size_t tap = 0; tap < result.taps; ++tap)
    result.weights.push_back(op.exclude_outside && sum != 0 ? weights[tap] / sum : weights[tap]);
}

Interpolation interpolation(const Resize& op, const AxisGeometry& g) {
  Interpolation result;
  const bool crop = op.coordinates == Coordinates::tf_crop_and_resize;
  result.identity = g.in == g.out && g.scale == 1 && !crop;
  if (result.identity) return result;
  result.taps = op.mode == ResizeMode::nearest ? 1 : op.mode == ResizeMode::linear ? 2 : 4;
  for (std::int64_t i = 0; i < g.out; ++i) {
    const double found = coordinate(op.coordinates, g, i);
    const double x = std::isnan(found) ? 0 : found;  // 0 / 0, for a size of one that is cropped
    result.outside.push_back(crop && (x < 0 || x > static_cast<double>(g.in - 1)));
    add_taps(op, x, g.in, result);
  }
  return result;
}

/// Picks whole elements: any type.
struct Picker {
  std::size_t element = 1;

  void operator()(const Interpolation& way, const AroundAxis& axis, const std::byte* from,
                  std::byte* to) const {
    const std::int64_t block = axis.inner * static_cast<std::int64_t>(element);
    for (std::int64_t o = 0; o < axis.outer; ++o, from += axis.size * block)
      for (const std::int64_t at : way.positions) {
        std::memcpy(to, from + at * block, static_cast<std::size_t>(block));
        to += block;
      }
  }
};

template <class T>
struct Blender {
  void operator()(const Interpolation& way, const AroundAxis& axis, const std::byte* from,
                  std::byte* to) const {
    const T* x = reinterpret_cast<const T*>(from);
    T* y = reinterpret_cast<T*>(to);
    const std::size_t outputs = way.positions.size() / way.taps;
    for (std::int64_t o = 0; o < axis.outer; ++o, x += axis.size * axis.inner)
      for (std::size_t i = 0; i < outputs; ++i, y += axis.inner) blend(way, i, {x, y}, axis.inner);
  }

 private:
  static void blend(const Interpolation& way, std::size_t output, std::pair<const T*, T*> xy,
                    std::int64_t inner) {
    std::fill_n(xy.second, inner, T{});
    for (std::size_t tap = output * way.taps; tap < (output + 1) * way.taps; ++tap) {
      const T weight = static_cast<T>(way.weights[tap]);
      const T* row = xy.first + way.positions[tap] * inner;
      for (std::int64_t j = 0; j < inner; ++j) xy.second[j] += weight * row[j];
    }
  }
};

template <class Axis>
void axis_by_axis(const std::vector<Interpolation>& ways, const ConstView& in, const View& out,
                  const Axis& run_axis) {
  Shape shape(in.shape.begin(), in.shape.end());
  Buffer current, next;
  const std::byte* from = in.data;
  for (std::size_t d = ways.size(); d-- > 0;) {
    if (ways[d].identity) continue;
    const AroundAxis axis = around(shape, static_cast<std::int64_t>(d));
    shape[d] = out.shape[d];
    next = Buffer(size_of(in.type) * count(shape));
    run_axis(ways[d], axis, from, next.data());
    current = std::move(next);
    from = current.data();
  }
  std::memcpy(out.data, from, static_cast<std::size_t>((size_of(out.type) * count(shape)).count));
}

/// Overwrites what lies outside of the input in any axis.
void extrapolate(const Resize& op, const std::vector<Interpolation>& ways, const View& out) {
  const std::array<float, 1> single{static_cast<float>(op.extrapolation)};
  const std::array<double, 1> wide{op.extrapolation};
  std::array<std::byte, 8> value{};
  const bool is_float = out.type == DataType::float32;
  const ConstView from{is_float ? DataType::float32 : DataType::float64, {},
                       is_float ? reinterpret_cast<const std::byte*>(single.data())
                                : reinterpret_cast<const std::byte*>(wide.data())};
  const View element{out.type, {}, value.data()};
  run(Cast{}, {&from, 1}, {&element, 1});
  const std::int64_t size = size_of(out.type).count;
  for (std::size_t d = 0; d < ways.size(); ++d) {
    const AroundAxis axis = around(out.shape, static_cast<std::int64_t>(d));
    for (std::int64_t i = 0; i < axis.outer * axis.size && !ways[d].identity; ++i)
      if (ways[d].outside[static_cast<std::size_t>(i % axis.size)])
        fill(out.data + i * axis.inner * size, axis.inner, value.data(),
             static_cast<std::size_t>(size));
  }
}

}  // namespace

void run(const Resize& op, Inputs in, Outputs out) {
  const std::size_t rank = out[0].shape.size();
  std::vector<Interpolation> ways;
  for (std::size_t d = 0; d < rank; ++d) {
    AxisGeometry geometry{op.scales[d], 0, 1, in[0].shape[d], out[0].shape[d]};
    if (op.roi.size() == 2 * rank) {
      geometry.roi_start = op.roi[d];
      geometry.roi_end = op.roi[d + rank];
    }
    ways.push_back(interpolation(op, geometry));
  }
  if (op.mode == ResizeMode::nearest) {
    axis_by_axis(ways, in[0], out[0], Picker{static_cast<std::size_t>(size_of(in[0].type).count)});
  } else {
    visit_float(in[0].type, [&]<class T>(std::type_identity<T>) {
      axis_by_axis(ways, in[0], out[0], Blender<T>{});
    });
  }
  extrapolate(op, ways, out[0]);
}

}  // namespace millrace::network::loops
