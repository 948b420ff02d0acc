#include "workload/kernels.h"

#include "kernels/tile/tile_windows.h"
#include "network/evaluate/evaluate.h"
#include "network/operator_kinds.h"
#include "workload/bytes/byte_kernels.h"

namespace millrace::workload {
namespace {

const KernelParameters& parameters_of(const Call& call) {
  return *static_cast<const KernelParameters*>(call.parameters);
}

const float* floats(const TileView& view) { return reinterpret_cast<const float*>(view.data); }
float* sink_floats(const Call& call) { return reinterpret_cast<float*>(call.sink.data); }

constexpr auto float_size = static_cast<std::int64_t>(sizeof(float));

kernels::TilePlanes planes_of(const Tile& tile) {
  return {tile.counts[0], tile.counts[1], tile.counts[2], tile.strides[0] / float_size,
          tile.strides[1] / float_size};
}

kernels::TileWindows windows_of(const TileWindow& window, const Tile& input) {
  kernels::TileWindows windows{window.kernel, window.strides, window.dilations, window.pads};
  for (std::size_t i = 0; i < 2; ++i)
    if (!input.first[1 + i]) windows.pads[i] = 0;
  return windows;
}

kernels::TileConvolution convolution_of(const Call& call) {
  const Tile& input = call.sources[0].tile;
  return {planes_of(input),
          planes_of(call.sink.tile),
          windows_of(parameters_of(call).window, input),
          call.sources[1].tile.strides[0] / float_size,
          call.pass > 0,
          nullptr};
}

kernels::TileTensors tensors_of(const Call& call) {
  return {floats(call.sources[0]), floats(call.sources[1]),
          call.source_count > 2 ? floats(call.sources[2]) : nullptr, sink_floats(call)};
}

/// The activation of the tile's sums, once they are done.
std::optional<kernels::TileCurve> curve_of(const Call& call) {
  const std::optional<TileActivation>& activation = parameters_of(call).activation;
  if (!activation || call.pass + 1 < call.passes) return std::nullopt;
  return kernels::TileCurve{static_cast<float>(activation->slope),
                            static_cast<float>(activation->low),
                            static_cast<float>(activation->high)};
}

using Convolve = void (*)(const kernels::TileConvolution&, const kernels::TileTensors&);

void convolve_with(Convolve convolve, const Call& call) {
  kernels::TileConvolution convolution = convolution_of(call);
  const std::optional<kernels::TileCurve> curve = curve_of(call);
  if (curve) convolution.curve = &*curve;
  convolve(convolution, tensors_of(call));
}

void run_convolution(const Call& call) { convolve_with(kernels::convolve_tile, call); }
void run_depthwise(const Call& call) { convolve_with(kernels::convolve_channels, call); }

void run_pool(const Call& call, bool largest) {
  const TileWindow& window = parameters_of(call).window;
  const Tile& input = call.sources[0].tile;
  const kernels::TilePool pool{planes_of(input),          planes_of(call.sink.tile),
                               windows_of(window, input), largest,
                               window.count_padding,      window.pads_end};
  kernels::pool_tile(pool, floats(call.sources[0]), sink_floats(call));
}

void run_max_pool(const Call& call) { run_pool(call, true); }
void run_average_pool(const Call& call) { run_pool(call, false); }

/// A side that is there has a stride.
std::size_t sides_of(const Tile& tile) {
  std::size_t sides = 0;
  while (sides < max_sides && tile.strides[sides] != 0) ++sides;
  return sides;
}

/// Rows of channels that follow each other without a gap.
bool is_dense(const Tile& tile) {
  return sides_of(tile) < 2 || tile.strides[0] == tile.counts[1] * tile.strides[1];
}

/// Some of the channels that a layer computes at once.
struct ChannelRange {
  std::int64_t begin = 0, count = 1;
};

/// A tile's shape to the plain loops: an image of channels of numbers, one number for each channel,
/// or one number.
network::Shape shape_of(const Tile& tile, std::int64_t channels, bool is_parameter) {
  switch (sides_of(tile)) {
    case 0:
      return {1};
    case 1:
      return is_parameter ? network::Shape{channels} : network::Shape{1, channels, 1};
    case 2:
      return {1, channels, tile.counts[1]};
    default:
      return {1, channels, tile.counts[1] * tile.counts[2]};
  }
}

std::byte* data_of(const TileView& view, std::int64_t channel) {
  return view.data + channel * view.tile.strides[0];
}

network::DataType type_of(const Call& call, TensorId tensor) {
  return (*parameters_of(call).network)[tensor].type;
}

void run_channels(const Call& call, const ChannelRange& channels) {
  const network::Layer& layer = *parameters_of(call).layer;
  const bool has_parameters = network::is_one_of<network::BatchNormalization>(layer.op);
  std::array<network::Shape, max_sources> shapes;
  std::array<network::ConstView, max_sources> inputs;
  for (std::size_t i = 0; i < call.source_count; ++i) {
    const TileView& source = call.sources[i];
    shapes[i] = shape_of(source.tile, channels.count, has_parameters && i > 0);
    inputs[i] = {type_of(call, layer.inputs[i]), shapes[i], data_of(source, channels.begin)};
  }
  const network::Shape out = shape_of(call.sink.tile, channels.count, false);
  const network::View output{type_of(call, layer.outputs[0]), out,
                             data_of(call.sink, channels.begin)};
  network::evaluate(layer, std::span(inputs).first(call.source_count), std::span(&output, 1));
}

void run_layer(const Call& call) {
  bool dense = is_dense(call.sink.tile);
  for (std::size_t i = 0; i < call.source_count; ++i)
    dense = dense && is_dense(call.sources[i].tile);
  const std::int64_t all = call.sink.tile.counts[0], together = dense ? all : 1;
  for (std::int64_t begin = 0; begin < all; begin += together)
    run_channels(call, {begin, together});
}

void run_whole(const Call& call) {
  const KernelParameters& p = parameters_of(call);
  std::vector<network::ConstView> inputs;
  std::vector<network::View> outputs;
  for (const TensorId id : p.layer->inputs) {
    if (!id.valid())
      inputs.emplace_back();
    else
      inputs.push_back({(*p.network)[id].type, (*p.network)[id].shape, p.tensors[id.index]});
  }
  for (const TensorId id : p.layer->outputs) {
    if (!id.valid())
      outputs.emplace_back();
    else
      outputs.push_back({(*p.network)[id].type, (*p.network)[id].shape, p.tensors[id.index]});
  }
  network::evaluate(*p.layer, inputs, outputs);
}

}  // namespace

KernelFunction kernel_of(const Link& link) {
  if (link.scaling)
    if (const KernelFunction function = byte_kernel_of(link.operation)) return function;
  switch (link.operation) {
    case TileOperation::convolution:
      return run_convolution;
    case TileOperation::depthwise:
      return run_depthwise;
    case TileOperation::max_pool:
      return run_max_pool;
    case TileOperation::average_pool:
      return run_average_pool;
    case TileOperation::layer:
      return run_layer;
    case TileOperation::whole:
      return run_whole;
    default:
      return copy_tile;
  }
}

}  // namespace millrace::workload
