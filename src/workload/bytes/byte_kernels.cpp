#include "workload/bytes/byte_kernels.h"

#include <vector>

#include "kernels/tile/byte_windows.h"
#include "workload/kernels.h"

namespace millrace::workload {
namespace {

constexpr auto sum_size = static_cast<std::int64_t>(sizeof(std::int32_t));

const KernelParameters& byte_parameters(const Call& call) {
  return *static_cast<const KernelParameters*>(call.parameters);
}
const TileScaling& scaling_of(const Call& call) { return *byte_parameters(call).scaling; }

/// Strides in numbers of so many bytes.
kernels::TilePlanes byte_planes(const Tile& tile, std::int64_t element) {
  return {tile.counts[0], tile.counts[1], tile.counts[2], tile.strides[0] / element,
          tile.strides[1] / element};
}

kernels::TileBytes bytes_in(const TileView& view, const TileSteps& steps) {
  return {view.data, steps.is_signed, steps.zero};
}

kernels::TileWindows byte_windows(const Call& call) {
  const TileWindow& window = byte_parameters(call).window;
  kernels::TileWindows windows{window.kernel, window.strides, window.dilations, window.pads};
  for (std::size_t i = 0; i < 2; ++i)
    if (!call.sources[0].tile.first[1 + i]) windows.pads[i] = 0;
  return windows;
}

/// What a step of each channel's sums is in steps of the result.
std::vector<float> factors_of(const Call& call, std::int64_t channels) {
  const TileScaling& scaling = scaling_of(call);
  const TileView& scales = call.sources[call.source_count - 1];
  std::vector<float> factors;
  for (std::int64_t i = 0; i < channels; ++i) {
    float own = scaling.weights.scale;
    if (scaling.by_channel)
      own = *reinterpret_cast<const float*>(scales.data + i * scales.tile.strides[0]);
    const float step = scaling.input.scale * own;
    factors.push_back(step / scaling.output.scale);
  }
  return factors;
}

void write_bytes(const Call& call, const kernels::TilePlanes& planes, const std::int32_t* sums) {
  const TileSteps& steps = scaling_of(call).output;
  const std::vector<float> factors = factors_of(call, planes.channels);
  kernels::requantize_tile({planes, sums}, {factors.data(), steps.is_signed, steps.zero},
                           {byte_planes(call.sink.tile, 1), call.sink.data});
}

/// After input and weights come the bias, if there is one, and the scales, if they are read here.
const std::int32_t* bias_of(const Call& call, bool reads_scales) {
  const std::size_t without = reads_scales ? 3 : 2;
  if (call.source_count <= without) return nullptr;
  return reinterpret_cast<const std::int32_t*>(call.sources[2].data);
}

void convolve(const Call& call, bool by_channel) {
  const TileScaling& scaling = scaling_of(call);
  const bool sums_up = call.element == sum_size;
  const Tile& sink = call.sink.tile;
  kernels::TilePlanes sums{sink.counts[0], sink.counts[1], sink.counts[2],
                           sink.counts[1] * sink.counts[2], sink.counts[2]};
  if (sums_up) sums = byte_planes(sink, sum_size);
  const kernels::ByteTileConvolution convolution{byte_planes(call.sources[0].tile, 1),
                                             sums,
                                             byte_windows(call),
                                             call.sources[1].tile.strides[0],
                                             by_channel,
                                             call.pass > 0};
  std::vector<std::int32_t> own;
  if (!sums_up) own.resize(static_cast<std::size_t>(sums.channels * sums.channel_stride));
  std::int32_t* to = sums_up ? reinterpret_cast<std::int32_t*>(call.sink.data) : own.data();
  kernels::convolve_bytes(
      convolution,
      {bytes_in(call.sources[0], scaling.input), bytes_in(call.sources[1], scaling.weights),
       bias_of(call, scaling.by_channel && !sums_up), to});
  if (!sums_up) write_bytes(call, sums, to);
}

void run_byte_convolution(const Call& call) { convolve(call, false); }
void run_byte_depthwise(const Call& call) { convolve(call, true); }

void run_requantize(const Call& call) {
  write_bytes(call, byte_planes(call.sources[0].tile, sum_size),
              reinterpret_cast<const std::int32_t*>(call.sources[0].data));
}

void run_byte_pool(const Call& call) {
  const kernels::TilePool pool{byte_planes(call.sources[0].tile, 1),
                               byte_planes(call.sink.tile, 1),
                               byte_windows(call),
                               true,
                               false,
                               byte_parameters(call).window.pads_end};
  kernels::pool_bytes(pool, bytes_in(call.sources[0], scaling_of(call).input), call.sink.data);
}

}  // namespace

KernelFunction byte_kernel_of(TileOperation operation) {
  switch (operation) {
    case TileOperation::convolution:
      return run_byte_convolution;
    case TileOperation::depthwise:
      return run_byte_depthwise;
    case TileOperation::max_pool:
      return run_byte_pool;
    case TileOperation::requantize:
      return run_requantize;
    default:
      return nullptr;
  }
}

}  // namespace millrace::workload
