#include "engine/onednn/lower/lower_grouped.h"

#include <algorithm>

#include "engine/onednn/lower/convolution_parts.h"
#include "kernels/tile/tile_windows.h"

namespace millrace::engine::onednn {
namespace {

/// From there on matrices are large enough for oneDNN's products. For channels that fill its
/// vectors it has other kernels.
constexpr std::int64_t too_many_channels = 64;

kernels::TilePlanes planes_of(const network::Shape& shape, std::int64_t groups) {
  return {shape[1] / groups, shape[2], shape[3], shape[2] * shape[3], shape[3]};
}

/// Rows of the output that are worth a task of their own.
constexpr std::int64_t rows_of_task = 16;

/// All groups of all images. Each is cut into some rows at a time, so that few groups have tasks
/// for many cores too.
struct GroupedConvolution {
  kernels::TileConvolution of_a_group;
  kernels::TileCurve curve;
  std::int64_t images, groups;
  const float *weights, *bias;

  void run(const float* from, float* to) const {
    const std::int64_t pieces = std::max<std::int64_t>(1, of_a_group.output.rows / rows_of_task);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
    for (std::int64_t task = 0; task < images * groups * pieces; ++task)
      run_task(task, pieces, from, to);
  }

 private:
  /// A piece of a group of an image.
  void run_task(std::int64_t task, std::int64_t pieces, const float* from, float* to) const {
    const std::int64_t index = task / pieces, piece = task % pieces, all = of_a_group.output.rows;
    const std::int64_t begin = all * piece / pieces, end = all * (piece + 1) / pieces;
    kernels::TileConvolution rows = of_a_group;
    rows.curve = &curve;
    rows.output.rows = end - begin;
    rows.windows.pads[0] -= begin * rows.windows.strides[0];
    const std::int64_t first = index % groups * rows.output.channels;
    convolve_few(rows,
                 {from + index * rows.input.channels * rows.input.channel_stride,
                  weights + first * rows.weight_stride, bias == nullptr ? nullptr : bias + first,
                  to + index * rows.output.channels * rows.output.channel_stride +
                      begin * rows.output.row_stride});
  }
};

GroupedConvolution convolution_of(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const Geometry g = geometry_of(layer.op);
  const network::Shape& in = builder.tensor(layer.inputs[0]).shape;
  const network::Shape& weights = builder.tensor(layer.inputs[1]).shape;
  GroupedConvolution result{{}, {}, in[0], g.groups, nullptr, nullptr};
  kernels::TileConvolution& each = result.of_a_group;
  each.input = planes_of(in, g.groups);
  each.output = planes_of(builder.tensor(layer.outputs[0]).shape, g.groups);
  each.weight_stride = weights[1] * weights[2] * weights[3];
  for (std::size_t d = 0; d < 2; ++d) {
    each.windows.kernel[d] = g.window.kernel[d];
    each.windows.strides[d] = g.window.strides[d];
    each.windows.dilations[d] = g.window.dilations[d];
    each.windows.pads[d] = g.window.pads_begin[d];
  }
  return result;
}

}  // namespace

bool is_in_small_groups(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const Geometry g = geometry_of(layer.op);
  const network::Shape& in = builder.tensor(layer.inputs[0]).shape;
  if (g.transposed || g.groups == 1 || in.size() != 4) return false;
  if (type_of(builder, id) != Type::f32 || is_int8(builder, id)) return false;
  const std::int64_t channels = in[1] / g.groups;
  const network::Shape& weights = builder.tensor(layer.inputs[1]).shape;
  const bool is_depthwise = channels == 1 && weights[0] == g.groups;
  // Products of matrices are faster for windows of one number.
  const bool has_windows = weights[2] * weights[3] > 1;
  return has_windows && !is_depthwise && channels < too_many_channels &&
         builder.variant(id).algorithm.empty() && builder.tensor(layer.inputs[1]).constant &&
         (!has_bias(layer) || builder.tensor(layer.inputs[2]).constant);
}

bool accepts_small_groups(const Builder& builder, const Group& group) {
  return activation_of(builder, group).has_value();
}

void lower_small_groups(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  GroupedConvolution convolution = convolution_of(builder, group.head);
  const kernels::Activation activation = activation_of(builder, group).value();
  convolution.curve = {activation.slope, activation.low, activation.high};
  const TensorId id = result_of(builder.network(), group);
  OwnWork work{builder.plain(layer.inputs[0]), make_plain(builder, id), {}};
  work.constants = {builder.plain(layer.inputs[1])};
  const auto constant = [&] {
    return reinterpret_cast<const float*>(builder.program().constant_data(work.constants.back()));
  };
  convolution.weights = constant();
  if (has_bias(layer)) {
    work.constants.push_back(builder.plain(layer.inputs[2]));
    convolution.bias = constant();
  }
  work.run = [convolution](const OwnPlaces& places) {
    convolution.run(reinterpret_cast<const float*>(places.from),
                    reinterpret_cast<float*>(places.to));
  };
  builder.program().run(work, small_groups);
}

}  // namespace millrace::engine::onednn
