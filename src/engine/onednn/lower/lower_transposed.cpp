#include "engine/onednn/lower/lower_transposed.h"

#include <algorithm>

#include "engine/onednn/lower/convolution_parts.h"
#include "engine/onednn/lower/lower.h"
#include "engine/onednn/lower/post_ops.h"
#include "engine/onednn/ways.h"
#include "kernels/direct/transposed_convolution.h"
#include "kernels/place_patches.h"

namespace millrace::engine::onednn {
namespace {

std::size_t unsigned_at(const Dims& shape, std::size_t dimension) {
  return static_cast<std::size_t>(shape[dimension]);
}

/// Each pixel makes a patch of the result that no other one reaches.
bool makes_patches(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const Geometry g = geometry_of(layer.op);
  const network::Shape& in = builder.tensor(layer.inputs[0]).shape;
  const network::Shape& out = builder.tensor(layer.outputs[0]).shape;
  if (!g.transposed || g.groups != 1 || in.size() != 4 || type_of(builder, id) != Type::f32 ||
      !builder.tensor(layer.inputs[1]).constant)
    return false;
  if (has_bias(layer) && !builder.tensor(layer.inputs[2]).constant) return false;
  for (std::size_t d = 0; d < 2; ++d)
    if (g.window.kernel[d] != g.window.strides[d] || g.window.pads_begin[d] != 0 ||
        (g.window.dilations[d] != 1 && g.window.kernel[d] != 1) ||
        out[d + 2] != in[d + 2] * g.window.strides[d])
      return false;
  return true;
}

/// The weights as a matrix: from channels to the pixels of a patch, each with all its channels.
Value patch_weights(Builder& builder, TensorId weights, const Desc& matrix) {
  const network::Shape& shape = builder.tensor(weights).shape;
  const std::int64_t pixels = shape[2] * shape[3];
  const Desc given = strided_desc({shape[0], pixels, shape[1]}, {shape[1] * pixels, 1, pixels});
  Value value =
      builder.in_layout(weights, Packing{given, plain_desc({shape[0], pixels, shape[1]})});
  value.desc = matrix;
  return value;
}

/// The first factor of the product: a row for each pixel, or a column where channels are outside.
struct Pixels {
  TensorId tensor;
  std::int64_t images = 0, count = 0, channels = 0;
};

Value rows_of(Builder& builder, const Pixels& pixels) {
  const Dims& shape = builder.tensor(pixels.tensor).shape;
  Value rows = builder.in_layout(pixels.tensor, channels_last_desc(shape));
  rows.desc = plain_desc({pixels.count, pixels.channels});
  return rows;
}

/// Whether the channels are outside, in images that are large enough for a loop over planes.
bool has_planes(Builder& builder, const Pixels& pixels) {
  const Desc plain = plain_desc(builder.tensor(pixels.tensor).shape);
  return static_cast<std::size_t>(pixels.count / pixels.images) >= kernels::least_pixels &&
         builder.value(pixels.tensor).desc == plain;
}

struct MadePatches {
  Value value;
  bool have_planes = false;  // one for each of their numbers; else patch follows patch
};

/// The product with few columns, by a loop of ours; nothing if there are more, or too few rows.
std::optional<MadePatches> narrow_patches(Builder& builder, const Pixels& pixels, TensorId weights,
                                          std::int64_t patch) {
  using kernels::NarrowProduct;
  const auto columns = static_cast<std::size_t>(patch);
  if (columns > NarrowProduct::most_columns || pixels.count < 4) return std::nullopt;
  const auto inner = static_cast<std::size_t>(pixels.channels);
  NarrowProduct product{static_cast<std::size_t>(pixels.count), inner, columns, {}};
  product.weights.resize(inner * NarrowProduct::most_columns);
  const Value matrix = patch_weights(builder, weights, plain_desc({pixels.channels, patch}));
  const auto* const given = reinterpret_cast<const float*>(builder.program().constant_data(matrix));
  for (std::size_t i = 0; i < inner * columns; ++i)
    product.weights[i / columns * NarrowProduct::most_columns + i % columns] = given[i];
  const bool planes = has_planes(builder, pixels);
  OwnWork work{planes ? builder.value(pixels.tensor) : rows_of(builder, pixels),
               builder.program().make_temporary(plain_desc({pixels.count, patch})),
               {}};
  const auto images = static_cast<std::size_t>(planes ? pixels.images : 0);
  work.run = [product, images](const OwnPlaces& places) {
    const auto* const from = reinterpret_cast<const float*>(places.from);
    auto* const to = reinterpret_cast<float*>(places.to);
    images > 0 ? multiply_planes(product, images, from, to) : multiply(product, from, to);
  };
  builder.program().run(work, "patches");
  return MadePatches{work.to, planes};
}

std::optional<MadePatches> wide_patches(Builder& builder, const Pixels& pixels, TensorId weights,
                                        std::int64_t patch) {
  const ProductSpec spec{plain_desc({pixels.count, pixels.channels}),
                         plain_desc({pixels.channels, patch}),
                         {},
                         plain_desc({pixels.count, patch})};
  const Kernel kernel = matrix_product(builder.engine(), spec, {});
  if (!kernel || kernel.is_slow()) return std::nullopt;
  const Value patches = builder.program().make_temporary(spec.destination);
  builder.program().run(kernel,
                        {{DNNL_ARG_SRC, rows_of(builder, pixels)},
                         {DNNL_ARG_WEIGHTS, patch_weights(builder, weights, spec.weights)}},
                        {{DNNL_ARG_DST, patches}});
  return MadePatches{patches};
}

bool lower_patches(Builder& builder, const Group& group) {
  const auto activation = activation_of(builder, group);
  if (!makes_patches(builder, group.head) || !activation) return false;
  const network::Layer& layer = builder.layer(group.head);
  const network::Shape& in = builder.tensor(layer.inputs[0]).shape;
  const network::Shape& weights = builder.tensor(layer.inputs[1]).shape;
  const Pixels pixels{layer.inputs[0], in[0], in[0] * in[2] * in[3], in[1]};
  const std::int64_t patch = weights[1] * weights[2] * weights[3];
  auto patches = narrow_patches(builder, pixels, layer.inputs[1], patch);
  if (!patches) patches = wide_patches(builder, pixels, layer.inputs[1], patch);
  if (!patches) return false;
  kernels::Patches placed{unsigned_at(in, 0),      unsigned_at(in, 2),
                          unsigned_at(in, 3),      unsigned_at(weights, 2),
                          unsigned_at(weights, 3), unsigned_at(weights, 1)};
  placed.activation = *activation;
  const TensorId id = result_of(builder.network(), group);
  const network::Shape& shape = builder.tensor(id).shape;
  const Desc layout = placed.channels == 1 ? plain_desc(shape) : channels_last_desc(shape);
  OwnWork work{patches->value, builder.make(id, layout), {}};
  if (has_bias(layer)) {
    work.constants = {builder.plain(layer.inputs[2])};
    placed.bias =
        reinterpret_cast<const float*>(builder.program().constant_data(work.constants.front()));
  }
  const auto place = patches->have_planes ? kernels::place_planes : kernels::place_patches;
  work.run = [placed, place](const OwnPlaces& places) {
    place(placed, reinterpret_cast<const float*>(places.from), reinterpret_cast<float*>(places.to));
  };
  builder.program().run(work, "patches");
  return true;
}

bool is_fast(const Kernel& kernel) { return kernel && !kernel.is_slow(); }

Dims by_channel(const Dims& shape) {
  Dims result(shape.size(), 1);
  result[1] = shape[1];
  return result;
}

/// What adds the bias to sums that lie so; nothing if oneDNN cannot do that there.
Kernel bias_kernel(const Builder& builder, const Desc& sums) {
  if (!suits_two_operands(sums)) return {};
  const Desc bias = plain_desc(by_channel(dims_of(sums)));
  return binary(builder.engine(), {dnnl::algorithm::binary_add, sums, bias, sums}, {});
}

/// Without a bias, `bias` is empty.
struct SumsAndBias {
  Kernel sums, bias;
};
std::optional<SumsAndBias> kernels_of(const Builder& builder, LayerId id,
                                      const KernelOfSums& kernel_of_sums) {
  const network::Layer& layer = builder.layer(id);
  const Type type = type_of(builder, id);
  const network::Shape& shape = builder.tensor(layer.outputs[0]).shape;
  for (const Desc& wanted : {any_desc(shape, type), channels_last_desc(shape, type)}) {
    SumsAndBias result{kernel_of_sums(wanted), {}};
    if (!is_fast(result.sums)) continue;
    if (!has_bias(layer)) return result;
    result.bias = bias_kernel(builder, result.sums.operand(DNNL_ARG_DST));
    if (is_fast(result.bias)) return result;
  }
  return std::nullopt;
}

/// Dimensions that there are none of are of one pixel.
kernels::WindowAxis axis_of_phases(const Builder& builder, LayerId id, std::size_t from_end) {
  const network::Layer& layer = builder.layer(id);
  const std::size_t rank = builder.tensor(layer.inputs[0]).shape.size() - 2;
  if (from_end > rank) return {};
  const std::size_t dimension = rank - from_end;
  const network::Window window = geometry_of(layer.op).window;
  return {unsigned_at(builder.tensor(layer.inputs[0]).shape, dimension + 2),
          unsigned_at(builder.tensor(layer.outputs[0]).shape, dimension + 2),
          unsigned_at(window.kernel, dimension),
          unsigned_at(window.strides, dimension),
          unsigned_at(window.dilations, dimension),
          unsigned_at(window.pads_begin, dimension)};
}

/// By transposed_convolution.h: nothing beyond the result in front.
bool can_have_phases(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const network::Shape& pads = geometry_of(layer.op).window.pads_begin;
  const bool grows = std::any_of(pads.begin(), pads.end(), [](auto pad) { return pad < 0; });
  const std::size_t rank = builder.tensor(layer.inputs[0]).shape.size();
  return rank >= 3 && rank <= 5 && !grows && is_ordinary(builder, id) && !is_int8(builder, id) &&
         type_of(builder, id) == Type::f32;
}

kernels::TransposedConvolution transposed_of(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const network::Shape& in = builder.tensor(layer.inputs[0]).shape;
  kernels::TransposedConvolution result;
  result.images = unsigned_at(in, 0);
  result.channels = unsigned_at(in, 1);
  result.outputs = unsigned_at(builder.tensor(layer.outputs[0]).shape, 1);
  result.groups = static_cast<std::size_t>(geometry_of(layer.op).groups);
  result.depth = axis_of_phases(builder, id, 3);
  result.height = axis_of_phases(builder, id, 2);
  result.width = axis_of_phases(builder, id, 1);
  result.lanes = vector_lanes();
  return result;
}

/// Computed weights, packed before each run.
Value packed_when_run(Builder& builder, TensorId weights,
                      const kernels::TransposedConvolution& transposed) {
  const auto size = static_cast<std::int64_t>(packed_size(transposed));
  const auto count =
      static_cast<std::size_t>(network::element_count(builder.tensor(weights).shape));
  OwnWork pack{builder.plain(weights),
               builder.program().make_temporary(row_major_desc({size}, Type::u8)),
               [transposed, count, size](const OwnPlaces& places) {
                 pack_weights(transposed, {reinterpret_cast<const float*>(places.from), count},
                              {places.to, static_cast<std::size_t>(size)});
               }};
  builder.program().run(pack, "reorder");
  return pack.to;
}

/// The product that makes all phases of the result.
Value make_phases(Builder& builder, const network::Layer& layer,
                  const kernels::TransposedConvolution& transposed) {
  const kernels::DirectConvolution made = phases_of(transposed);
  const bool varies = !builder.tensor(layer.inputs[1]).constant;
  const Value weights = varies ? packed_when_run(builder, layer.inputs[1], transposed)
                               : packed_weights(builder, layer.inputs[1], transposed);
  const auto numbers = static_cast<std::int64_t>(made.pixels() * made.outputs);
  OwnWork work{
      builder.in_layout(layer.inputs[0], channels_last_desc(builder.tensor(layer.inputs[0]).shape)),
      builder.program().make_temporary(plain_desc({numbers})),
      {}};
  work.others = {weights};
  work.run = [made](const OwnPlaces& places) {
    convolve(made, {reinterpret_cast<const float*>(places.from),
                    reinterpret_cast<const float*>(places.others[0]), nullptr,
                    reinterpret_cast<float*>(places.to)});
  };
  builder.program().run(work, "phases");
  return work.to;
}

bool lower_phases(Builder& builder, const Group& group) {
  const auto activation = activation_of(builder, group);
  if (!activation || !can_have_phases(builder, group.head)) return false;
  const network::Layer& layer = builder.layer(group.head);
  kernels::TransposedConvolution transposed = transposed_of(builder, group.head);
  const Value phases = make_phases(builder, layer, transposed);
  transposed.activation = *activation;
  const TensorId id = result_of(builder.network(), group);
  OwnWork work{phases, builder.make(id, channels_last_desc(builder.tensor(id).shape)), {}};
  if (has_bias(layer)) work.others = {builder.plain(layer.inputs[2])};
  work.run = [transposed](const OwnPlaces& places) {
    place_phases(transposed, reinterpret_cast<const float*>(places.others[0]),
                 reinterpret_cast<const float*>(places.from), reinterpret_cast<float*>(places.to));
  };
  builder.program().run(work, "phases");
  return true;
}

}  // namespace

bool accepts_transposed(const Builder& builder, const Group& group,
                        const KernelOfSums& kernel_of_sums) {
  if (!activation_of(builder, group)) return false;
  return makes_patches(builder, group.head) ||
         (can_have_phases(builder, group.head) && !kernels_of(builder, group.head, kernel_of_sums));
}

bool lower_transposed(Builder& builder, const Group& group, const KernelOfSums& kernel_of_sums) {
  if (lower_patches(builder, group)) return true;
  const network::Layer& layer = builder.layer(group.head);
  const auto kernels =
      group.tail.empty() ? kernels_of(builder, group.head, kernel_of_sums) : std::nullopt;
  if (!kernels) return lower_phases(builder, group);
  const Kernel& sums = kernels->sums;
  Packing weights;
  weights.from = weights_as_given(geometry_of(layer.op), builder.tensor(layer.inputs[1]).shape);
  weights.to = sums.operand(DNNL_ARG_WEIGHTS);
  const Desc layout = sums.operand(DNNL_ARG_DST);
  const std::vector<Operand> factors{
      {DNNL_ARG_SRC, builder.in_layout(layer.inputs[0], sums.operand(DNNL_ARG_SRC))},
      {DNNL_ARG_WEIGHTS, builder.in_layout(layer.inputs[1], weights)}};
  if (!has_bias(layer)) {
    builder.program().run(sums, factors, {{DNNL_ARG_DST, builder.make(layer.outputs[0], layout)}});
    return true;
  }
  const Value without_bias = builder.program().make_temporary(layout);
  builder.program().run(sums, factors, {{DNNL_ARG_DST, without_bias}});
  Value bias = builder.plain(layer.inputs[2]);
  bias.desc = plain_desc(by_channel(dims_of(layout)));
  builder.program().run_in_place(kernels->bias,
                                 {{DNNL_ARG_SRC_0, without_bias}, {DNNL_ARG_SRC_1, bias}},
                                 {{DNNL_ARG_DST, builder.make(layer.outputs[0], layout)}});
  return true;
}

}  // namespace millrace::engine::onednn
