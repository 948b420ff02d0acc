// Pooling, means and maxima over whole images, enlarging.
#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/onednn/lower/lower.h"
#include "engine/onednn/memory/turning.h"
#include "engine/onednn/ways.h"
#include "kernels/half/half_layers.h"
#include "kernels/pool.h"

namespace millrace::engine::onednn {
namespace {

using network::Shape;

/// The end padding that makes exactly the windows of the output's shape.
Dims end_pads(const network::Window& window, const Shape& input, const Shape& output) {
  Dims pads;
  for (std::size_t d = 0; d < window.kernel.size(); ++d) {
    const std::int64_t needed = (output[d + 2] - 1) * window.strides[d] + window.kernel[d] -
                                input[d + 2] - window.pads_begin[d];
    pads.push_back(std::max(needed, window.pads_end[d]));
  }
  return pads;
}

template <class Is>
bool any(const Dims& numbers, const Is& is) {
  return std::any_of(numbers.begin(), numbers.end(), is);
}

std::optional<PoolingSpec> spec_of(const Builder& builder, const network::Layer& layer) {
  const auto& op = std::get<network::Pool>(layer.op);
  const Shape& input = builder.tensor(layer.inputs[0]).shape;
  const Shape& output = builder.tensor(layer.outputs[0]).shape;
  PoolingSpec spec;
  spec.algorithm = op.kind == network::PoolKind::max ? dnnl::algorithm::pooling_max
                   : op.count_include_pad            ? dnnl::algorithm::pooling_avg_include_padding
                                                     : dnnl::algorithm::pooling_avg_exclude_padding;
  spec.strides = op.window.strides;
  spec.kernel = op.window.kernel;
  spec.pads_begin = op.window.pads_begin;
  spec.pads_end = end_pads(op.window, input, output);
  spec.destination = any_desc(output);
  const bool dilated = any(op.window.dilations, [](std::int64_t n) { return n != 1; });
  const bool crops = any(spec.pads_begin, [](std::int64_t n) { return n < 0; }) ||
                     any(spec.pads_end, [](std::int64_t n) { return n < 0; });
  // Where rounding up adds padding that the model did not ask for, oneDNN's divisor counts it.
  const bool counts_extra = op.count_include_pad && spec.pads_end != op.window.pads_end;
  if (dilated || crops || counts_extra) return std::nullopt;
  for (std::size_t d = 0; d < spec.kernel.size(); ++d)
    if (spec.pads_begin[d] >= spec.kernel[d] || spec.pads_end[d] >= spec.kernel[d])
      return std::nullopt;
  return spec;
}

struct PoolingRun {
  const network::Layer& layer;
  PoolingSpec spec;
  Desc result_layout;  // zero: as the kernel wants it
};

/// Images pool best with the channels inside; what lies so already stays. `simple`: also where
/// oneDNN has only a loop over single numbers, as for rows of pixels without AVX-512.
bool run_pooling(Builder& builder, PoolingRun run, bool simple) {
  auto& [layer, spec, result_layout] = run;
  const Value now = builder.value(layer.inputs[0]);
  std::vector<Desc> layouts = usual_layouts(now.desc);
  const bool keeps = spec.algorithm == dnnl::algorithm::pooling_max && is_quantized(now.desc);
  if (keeps)
    layouts.insert(layouts.begin(),
                   {now.desc, channels_last_desc(dims_of(now.desc), type_of(now.desc))});
  for (const Desc& layout : layouts) {
    const Encoding encoding = is_quantized(layout) ? now.encoding : Encoding();
    spec.source = layout;
    spec.destination = any_desc(dims_of(spec.destination), type_of(layout));
    const Kernel kernel = pooling(builder.engine(), spec);
    if (!kernel || kernel.is_slow()) continue;
    if (!simple && kernel.family() == KernelFamily::simple) continue;
    const Desc made = kernel.operand(DNNL_ARG_DST);
    // A result without rows and columns is the same memory in the shape that is asked for.
    const bool renamed = !result_layout.is_zero();
    if (renamed && !is_row_major(made)) continue;
    const Value source = builder.in_layout(layer.inputs[0], layout, encoding);
    const Value result = builder.make(
        layer.outputs[0], renamed ? retyped(result_layout, type_of(made)) : made, encoding);
    Value written = result;
    written.desc = made;
    builder.program().run(kernel, {{DNNL_ARG_SRC, source}}, {{DNNL_ARG_DST, written}});
    return true;
  }
  return false;
}

bool run_pooling(Builder& builder, const PoolingRun& run) {
  return run_pooling(builder, run, false) || run_pooling(builder, run, true);
}

kernels::PoolAxis axis_of(const PoolingSpec& spec, std::int64_t input, std::int64_t output,
                          std::size_t dimension) {
  const auto at = [&](const Dims& sizes) { return static_cast<std::size_t>(sizes[dimension]); };
  return {static_cast<std::size_t>(input), static_cast<std::size_t>(output), at(spec.kernel),
          at(spec.strides), at(spec.pads_begin)};
}

template <class Number>
std::function<void(const OwnPlaces&)> pool_loop(void (*loop)(const kernels::Pool&, const Number*,
                                                             Number*),
                                                const kernels::Pool& pool) {
  return [loop, pool](const OwnPlaces& places) {
    loop(pool, reinterpret_cast<const Number*>(places.from), reinterpret_cast<Number*>(places.to));
  };
}

bool is_max(const PoolingSpec& spec) { return spec.algorithm == dnnl::algorithm::pooling_max; }

/// Whether our own loops take it, but for its type and how the input lies.
bool suits_own_pooling(const Dims& input) {
  return input.size() == 4 && !any(input, [](std::int64_t n) { return n == 0; });
}

/// What AVX-512 has no better kernel for: maxima over small windows with the channels inside.
bool is_small_max(const PoolingSpec& spec) {
  return is_max(spec) && !any(spec.kernel, [](std::int64_t n) { return n > 3; });
}

kernels::Pool pool_of(const PoolingSpec& spec, const Dims& in, const Dims& out) {
  return {static_cast<std::size_t>(in[0]), static_cast<std::size_t>(in[1]),
          axis_of(spec, in[2], out[2], 0), axis_of(spec, in[3], out[3], 1),
          spec.algorithm == dnnl::algorithm::pooling_avg_include_padding};
}

/// How our own loops see images in such a layout, and how the result lies; nothing if they do not
/// know the layout.
struct OwnPooling {
  kernels::Pool pool;
  Desc result;
};

std::optional<OwnPooling> own_pooling(const Desc& source, const PoolingSpec& spec,
                                      const Dims& out) {
  const Type type = type_of(source);
  const Dims in = dims_of(source);
  if (!suits_own_pooling(in)) return std::nullopt;
  // For rows with one result oneDNN has better kernels. They add numbers in the same order in every
  // layout: parts of quantised networks then round as the whole does.
  const bool is_wide = vector_lanes() == 16;
  const bool has_one_column = out[3] == 1 && !has_own_half(type);
  if ((is_wide || has_one_column) && !is_small_max(spec)) return std::nullopt;
  const kernels::Pool pool = pool_of(spec, in, out);
  if (source == channels_last_desc(in, type))
    return OwnPooling{pool, channels_last_desc(out, type)};
  if (is_wide || (has_own_half(type) && !is_max(spec))) return std::nullopt;
  const auto with_channels = [&](std::size_t channels, const Desc& result) {
    OwnPooling parted{pool, result};
    parted.pool.images = pool.images * pool.channels / channels;
    parted.pool.channels = channels;
    return parted;
  };
  if (is_row_major(source)) return with_channels(1, row_major_desc(out, type));
  const auto blocks = blocks_like(source, out);
  if (!blocks) return std::nullopt;
  return with_channels(static_cast<std::size_t>(blocking_of(*blocks)->blocks[0]), *blocks);
}

std::function<void(const OwnPlaces&)> loop_of(const kernels::Pool& pool, Type type, bool is_max) {
  if (!is_max && has_own_half(type))
    return [pool, kind = stored_number_of(type)](const OwnPlaces& places) {
      average_pool_of_halves(pool, reinterpret_cast<const kernels::Half*>(places.from),
                             reinterpret_cast<kernels::Half*>(places.to), kind);
    };
  if (!is_max) return pool_loop<float>(kernels::average_pool, pool);
  if (type == Type::f32) return pool_loop<float>(kernels::max_pool, pool);
  if (type == Type::u8) return pool_loop<std::uint8_t>(kernels::max_pool, pool);
  if (type == Type::s8) return pool_loop<std::int8_t>(kernels::max_pool, pool);
  return pool_loop<std::int16_t>(kernels::max_pool, pool);
}

/// By a loop of our own, if the input lies as that wants it.
bool run_own_pooling(Builder& builder, const network::Layer& layer, const PoolingSpec& spec) {
  const Value source = builder.value(layer.inputs[0]);
  const Type type = type_of(source.desc);
  const bool is_half = type == Type::bf16 || type == Type::f16;
  const bool is_byte = is_quantized(source.desc) && !has_integer_products();
  const bool averages_halves = has_own_half(type) && !is_max(spec);
  if (type != Type::f32 && !averages_halves && ((!is_half && !is_byte) || !is_max(spec)))
    return false;
  const auto own = own_pooling(source.desc, spec, builder.tensor(layer.outputs[0]).shape);
  if (!own) return false;
  const Value result = builder.make(layer.outputs[0], own->result, source.encoding);
  builder.program().run({source, result, loop_of(own->pool, type, is_max(spec))},
                        is_max(spec) ? "max_pool" : "average_pool");
  return true;
}

/// Means of images that lie in 16 bits with the channels inside, on 64-bit ARM.
bool reduce_halves(Builder& builder, const network::Layer& layer, const PoolingSpec& spec) {
  const Value source = builder.value(layer.inputs[0]);
  const Type type = type_of(source.desc);
  const Dims in = dims_of(source.desc);
  if (!has_own_half(type) || is_max(spec) || source.desc != channels_last_desc(in, type))
    return false;
  const kernels::Pool pool = pool_of(spec, in, dims_of(spec.destination));
  const Desc result = row_major_desc(builder.tensor(layer.outputs[0]).shape, type);
  builder.program().run(
      {source, builder.make(layer.outputs[0], result), loop_of(pool, type, false)}, "average_pool");
  return true;
}

/// How ONNX's and oneDNN's ideas of where an output pixel lies agree.
std::optional<dnnl::algorithm> resampling_of(const network::Resize& op, const Shape& in,
                                             const Shape& out) {
  using network::Coordinates;
  bool whole_factors = true, exact = true;
  for (std::size_t d = 0; d < in.size(); ++d) {
    const double ratio = static_cast<double>(out[d]) / static_cast<double>(in[d]);
    exact = exact && std::abs(op.scales[d] - ratio) < 1e-9 * ratio;
    whole_factors = whole_factors && out[d] % in[d] == 0;
    if (d < 2 && in[d] != out[d]) return std::nullopt;
    if (op.coordinates == Coordinates::pytorch_half_pixel && d >= 2 && out[d] == 1)
      return std::nullopt;
  }
  const bool half = op.coordinates == Coordinates::half_pixel ||
                    op.coordinates == Coordinates::pytorch_half_pixel;
  const bool floors =
      op.coordinates == Coordinates::asymmetric && op.nearest == network::NearestMode::floor;
  const bool rounds = op.nearest == network::NearestMode::round_prefer_floor ||
                      op.nearest == network::NearestMode::round_prefer_ceil;
  if (!exact || op.exclude_outside || op.antialias) return std::nullopt;
  if (op.mode == network::ResizeMode::linear && half) return dnnl::algorithm::resampling_linear;
  // Enlarged by whole factors no pixel lies halfway between two, so that ways of rounding agree.
  if (op.mode == network::ResizeMode::nearest && whole_factors && (floors || (half && rounds)))
    return dnnl::algorithm::resampling_nearest;
  return std::nullopt;
}

}  // namespace

bool lower_pool(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  if (layer.outputs.size() > 1 && layer.outputs[1].valid()) return false;
  const auto spec = spec_of(builder, layer);
  if (!spec) return false;
  return run_own_pooling(builder, layer, *spec) || run_pooling(builder, {layer, *spec, {}});
}

/// Maxima of 8-bit integers.
bool lower_byte_pool(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const network::Tensor &in = builder.tensor(layer.inputs[0]),
                        &out = builder.tensor(layer.outputs[0]);
  const bool is_signed = in.type == network::DataType::int8;
  const bool indexed = layer.outputs.size() > 1 && layer.outputs[1].valid();
  if (indexed || (!is_signed && in.type != network::DataType::uint8)) return false;
  const auto spec = spec_of(builder, layer);
  if (!spec || !is_max(*spec) || !suits_own_pooling(in.shape)) return false;
  const kernels::Pool pool = pool_of(*spec, in.shape, out.shape);
  const PlainLoop run = [pool, is_signed](std::span<const network::ConstView> from,
                                          std::span<const network::View> to) {
    if (is_signed)
      max_pool(pool, from[0].as<std::int8_t>(), to[0].as<std::int8_t>());
    else
      max_pool(pool, from[0].as<std::uint8_t>(), to[0].as<std::uint8_t>());
  };
  loops_channels_last(builder, id, run, "max_pool");
  return true;
}

bool lower_reduce(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const Shape& input = builder.tensor(layer.inputs[0]).shape;
  const auto& [kind, axes] = std::get<network::Reduce>(layer.op);
  if (kind != network::ReduceKind::mean && kind != network::ReduceKind::max) return false;
  if (input.size() < 3 || input.size() > 5 || axes.size() + 2 != input.size()) return false;
  if (axes.front() != 2) return false;
  PoolingSpec spec;
  spec.algorithm = kind == network::ReduceKind::max ? dnnl::algorithm::pooling_max
                                                    : dnnl::algorithm::pooling_avg_include_padding;
  spec.kernel.assign(input.begin() + 2, input.end());
  spec.strides.assign(axes.size(), 1);
  spec.pads_begin.assign(axes.size(), 0);
  spec.pads_end = spec.pads_begin;
  Dims pooled{input[0], input[1]};
  pooled.resize(input.size(), 1);
  spec.destination = any_desc(pooled);
  if (input.size() == 4 && reduce_halves(builder, layer, spec)) return true;
  return run_pooling(builder, {layer, spec, plain_desc(builder.tensor(layer.outputs[0]).shape)});
}

bool lower_resize(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const Shape& input = builder.tensor(layer.inputs[0]).shape;
  const Shape& output = builder.tensor(layer.outputs[0]).shape;
  if (input.size() < 3 || input.size() > 5) return false;
  const auto algorithm = resampling_of(std::get<network::Resize>(layer.op), input, output);
  if (!algorithm) return false;
  const Desc now = builder.value(layer.inputs[0]).desc;
  for (const Desc& layout : usual_layouts(now)) {
    const Kernel kernel =
        resampling(builder.engine(), *algorithm, layout, any_desc(output, type_of(layout)));
    if (!kernel || kernel.is_slow()) continue;
    const Value source = builder.in_layout(layer.inputs[0], layout);
    builder.program().run(
        kernel, {{DNNL_ARG_SRC, source}},
        {{DNNL_ARG_DST, builder.make(layer.outputs[0], kernel.operand(DNNL_ARG_DST))}});
    return true;
  }
  return false;
}

}  // namespace millrace::engine::onednn
