// Samples of images at computed places by a loop of our own.
#include <algorithm>
#include <array>
#include <limits>

#include "engine/onednn/lower/lower.h"
#include "kernels/plain/sample.h"
#include "network/evaluate/indexed/indices.h"
#include "network/evaluate/indexed/sample_taps.h"

namespace millrace::engine::onednn {
namespace {

using network::ConstView;
using network::View;

bool are_float32(const Builder& builder, const network::Layer& layer, std::size_t inputs) {
  const auto check = [&](TensorId id) {
    return builder.tensor(id).type == network::DataType::float32;
  };
  const auto first = layer.inputs.begin();
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(inputs), check) &&
         check(layer.outputs[0]);
}

std::size_t extent(std::span<const std::int64_t> shape, std::size_t d) {
  return static_cast<std::size_t>(shape[d]);
}

/// A point that lies between rows and columns of a plane; its taps are those of all pairs of them.
/// What lies outside of the plane counts as zero.
void set_point(kernels::SamplePoints& points, std::size_t point, std::size_t width,
               const std::array<network::Taps, 2>& down_across) {
  const auto& [down, across] = down_across;
  const auto columns = static_cast<std::size_t>(across.count);
  for (std::size_t tap = 0; tap < points.taps; ++tap) {
    const std::size_t r = tap / columns, c = tap % columns;
    const bool inside = down.index[r] >= 0 && across.index[c] >= 0;
    const std::size_t i = tap * points.count + point;
    points.places[i] =
        inside ? static_cast<std::int32_t>(static_cast<std::size_t>(down.index[r]) * width +
                                           static_cast<std::size_t>(across.index[c]))
               : 0;
    points.weights[i] = inside ? static_cast<float>(down.weight[r] * across.weight[c]) : 0.f;
  }
}

kernels::SamplePoints empty_points(std::size_t count, std::size_t taps) {
  kernels::SamplePoints points{count, taps, {}, {}};
  points.places.resize(count * taps);
  points.weights.resize(count * taps);
  return points;
}

void run_grid_sample(const network::GridSample& op, std::span<const ConstView> in,
                     const View& out) {
  const auto x = in[0].shape, y = out.shape;
  const std::size_t taps = op.mode == network::SampleMode::nearest  ? 1
                           : op.mode == network::SampleMode::linear ? 4
                                                                    : 16;
  kernels::SamplePoints points = empty_points(extent(y, 2) * extent(y, 3), taps);
  kernels::SampledPlanes planes{extent(x, 1), extent(x, 2) * extent(x, 3), in[0].as<float>(),
                                out.as<float>()};
  const float* place = in[1].as<float>();
  for (std::size_t n = 0; n < extent(x, 0); ++n) {
    for (std::size_t p = 0; p < points.count; ++p, place += 2)
      set_point(points, p, extent(x, 3),
                {taps_of(op, x[2], double{place[1]}), taps_of(op, x[3], double{place[0]})});
    sample_planes(points, kernels::Sampling::sum, planes);
    planes.from += planes.count * planes.size;
    planes.to += planes.count * points.count;
  }
}

/// The two neighbours of a place along a dimension; both outside if it is far from the image.
network::Taps neighbours(double at, std::int64_t size) {
  network::Taps taps{2, {-1, -1}, {0, 0}};
  if (!(at >= -1) || at > static_cast<double>(size)) return taps;
  at = std::clamp(at, 0.0, static_cast<double>(size - 1));
  taps.index[0] = static_cast<std::int64_t>(at);
  taps.index[1] = std::min(taps.index[0] + 1, size - 1);
  taps.weight[1] = at - static_cast<double>(taps.index[0]);
  taps.weight[0] = 1 - taps.weight[1];
  return taps;
}

/// One region after the other, and of each one sample of all its cells after the other.
struct RegionSampler {
  const network::RoiAlign& op;
  std::span<const ConstView> in;
  const View& out;

  void run() const {
    for (std::int64_t region = 0; region < out.shape[0]; ++region) run(region);
  }

 private:
  void run(std::int64_t region) const {
    const auto x = in[0].shape, y = out.shape;
    const float* const r = in[1].as<float>() + region * 4;
    const network::Cells across = cells_of(op, double{r[0]}, double{r[2]}, y[3]);
    const network::Cells down = cells_of(op, double{r[1]}, double{r[3]}, y[2]);
    kernels::SamplePoints points = empty_points(extent(y, 2) * extent(y, 3), 4);
    kernels::SampledPlanes planes{extent(x, 1), extent(x, 2) * extent(x, 3)};
    const auto image = static_cast<std::size_t>(network::loops::index_at(in[2], region));
    planes.from = in[0].as<float>() + image * planes.count * planes.size;
    planes.to = out.as<float>() + static_cast<std::size_t>(region) * planes.count * points.count;
    const std::int64_t samples = down.samples * across.samples;
    const std::size_t numbers = planes.count * points.count;
    if (op.maximum) std::fill_n(planes.to, numbers, -std::numeric_limits<float>::infinity());
    for (std::int64_t s = 0; s < samples; ++s) {
      for (std::size_t cell = 0; cell < points.count; ++cell) {
        const auto row = static_cast<std::int64_t>(cell / extent(y, 3));
        const auto column = static_cast<std::int64_t>(cell % extent(y, 3));
        set_point(points, cell, extent(x, 3),
                  {neighbours(down.at(row, s / across.samples), x[2]),
                   neighbours(across.at(column, s % across.samples), x[3])});
      }
      const auto more = op.maximum ? kernels::Sampling::largest : kernels::Sampling::add;
      sample_planes(points, s == 0 && !op.maximum ? kernels::Sampling::sum : more, planes);
    }
    const float share = 1.f / static_cast<float>(samples);
    for (std::size_t i = 0; i < numbers && !op.maximum; ++i) planes.to[i] *= share;
  }
};

}  // namespace

bool lower_grid_sample(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  if (!are_float32(builder, layer, 2) || builder.tensor(layer.inputs[0]).shape.size() != 4)
    return false;
  const auto op = std::get<network::GridSample>(layer.op);
  const auto loop = [op](std::span<const ConstView> in, std::span<const View> out) {
    run_grid_sample(op, in, out[0]);
  };
  loops(builder, id, loop, "grid_sample");
  return true;
}

bool lower_roi_align(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  if (!are_float32(builder, layer, 2)) return false;
  const auto loop = [&layer](std::span<const ConstView> in, std::span<const View> out) {
    network::loops::check_indices(layer, in);
    RegionSampler{std::get<network::RoiAlign>(layer.op), in, out[0]}.run();
  };
  loops(builder, id, loop, "roi_align");
  return true;
}

}  // namespace millrace::engine::onednn
