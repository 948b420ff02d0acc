// Resizing by a loop of our own, for what oneDNN's resampling does not know.
#include <algorithm>
#include <optional>

#include "engine/onednn/lower/lower.h"
#include "kernels/plain/resample.h"
#include "network/evaluate/resize/interpolation.h"

namespace millrace::engine::onednn {
namespace {

using network::Interpolation;
using network::Shape;

std::size_t size_of_axis(std::int64_t n) { return static_cast<std::size_t>(n); }

kernels::AxisTaps taps_of_axis(const Interpolation& way, std::int64_t size) {
  kernels::AxisTaps axis;
  if (way.identity) {
    axis.outputs = size_of_axis(size);
    for (std::int64_t i = 0; i < size; ++i) axis.positions.push_back(static_cast<std::int32_t>(i));
    axis.weights.assign(axis.outputs, 1.f);
    return axis;
  }
  axis.taps = way.taps;
  axis.outputs = way.positions.size() / way.taps;
  for (std::size_t tap = 0; tap < way.taps; ++tap)
    for (std::size_t i = 0; i < axis.outputs; ++i) {
      axis.positions.push_back(static_cast<std::int32_t>(way.positions[i * way.taps + tap]));
      axis.weights.push_back(static_cast<float>(way.weights[i * way.taps + tap]));
    }
  return axis;
}

/// Only two dimensions may change. Nothing of the result lies outside of the input.
bool changes_only(const std::vector<Interpolation>& ways, std::size_t first) {
  for (std::size_t d = 0; d < ways.size(); ++d) {
    const bool outside =
        std::find(ways[d].outside.begin(), ways[d].outside.end(), true) != ways[d].outside.end();
    if (outside || (!ways[d].identity && d != first && d != first + 1)) return false;
  }
  return true;
}

/// Where the two dimensions that may change begin; what lies behind them in memory are pixels.
struct ResizedLayout {
  Desc from, to;
  std::size_t first = 0;
  std::size_t inner = 1;
};

ResizedLayout layout_of_resized(const Desc& now, const Shape& in, const Shape& out) {
  if (in.size() != 4 || is_row_major(now))
    return {plain_desc(in), plain_desc(out), in.size() - 2, 1};
  return {channels_last_desc(in), channels_last_desc(out), 2, size_of_axis(in[1])};
}

}  // namespace

bool lower_resampling(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const Shape& in = builder.tensor(layer.inputs[0]).shape;
  const Shape& out = builder.tensor(layer.outputs[0]).shape;
  const Desc now = builder.value(layer.inputs[0]).desc;
  if (in.size() < 2) return false;
  const bool lies_so =
      type_of(now) == Type::f32 && (is_row_major(now) || same_memory(now, channels_last_desc(in)));
  if (!lies_so && lower_resize(builder, id)) return true;
  const auto ways = network::interpolations(std::get<network::Resize>(layer.op), in, out);
  const ResizedLayout layout = layout_of_resized(now, in, out);
  if (!changes_only(ways, layout.first)) return false;
  kernels::Resampling resampling;
  resampling.rows = size_of_axis(in[layout.first]);
  resampling.columns = size_of_axis(in[layout.first + 1]);
  resampling.inner = layout.inner;
  resampling.images = size_of_axis(network::element_count(in)) / layout.inner /
                      (resampling.rows * resampling.columns);
  resampling.down = taps_of_axis(ways[layout.first], in[layout.first]);
  resampling.across = taps_of_axis(ways[layout.first + 1], in[layout.first + 1]);
  const auto loop = [resampling = std::move(resampling)](const OwnPlaces& at) {
    resample(resampling, reinterpret_cast<const float*>(at.from), reinterpret_cast<float*>(at.to));
  };
  builder.program().run({builder.in_layout(layer.inputs[0], layout.from),
                         builder.make(layer.outputs[0], layout.to), loop},
                        "resample");
  return true;
}

}  // namespace millrace::engine::onednn
