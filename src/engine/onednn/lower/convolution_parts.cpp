#include "engine/onednn/lower/convolution_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/onednn/lower/lower_winograd.h"
#include "engine/onednn/lower/post_ops.h"
#include "engine/onednn/memory/turning.h"
#include "engine/onednn/ways.h"

namespace millrace::engine::onednn {
namespace {

std::size_t unsigned_of(std::int64_t number) { return static_cast<std::size_t>(number); }

bool is_constant(const Builder& builder, const network::Layer& layer, std::size_t input) {
  const bool given = layer.inputs.size() > input && layer.inputs[input].valid();
  return !given || builder.tensor(layer.inputs[input]).constant.has_value();
}

/// What sums are multiplied with to be in units of the result.
float unit_of(const Integers& integers) {
  return integers.quantizes_result ? 1 / integers.result.encoding.scale : 1.f;
}

/// `unit`: of the sums.
Scaled scaled_of(const Builder& builder, const network::Layer& layer, const Integers& integers,
                 float unit) {
  Scaled result;
  for (const float weight : integers.weights)
    result.scales.push_back(integers.source.encoding.scale * weight * unit);
  result.bias.assign(result.scales.size(), 0.f);
  if (!has_bias(layer) && integers.bias.empty()) return result;
  const std::span<const float> given =
      integers.bias.empty() ? builder.tensor(layer.inputs[2]).constant->values<float>()
                            : std::span(integers.bias);
  for (std::size_t i = 0; i < given.size(); ++i) result.bias[i] = given[i] * unit;
  return result;
}

void set_numbers(kernels::OwnConvolution& convolution, const Integers& integers) {
  convolution.source = stored_number_of(integers.source.type);
  convolution.source_zero = integers.source.encoding.zero;
  if (!integers.quantizes_result) return;
  const float unit = unit_of(integers);
  const bool adds_real = convolution.activation.is_curve() && !convolution.adds_last;
  convolution.result = stored_number_of(integers.result.type);
  convolution.result_zero = static_cast<float>(integers.result.encoding.zero);
  convolution.added = stored_number_of(integers.residual.type);
  convolution.added_scale = integers.residual.encoding.scale * (adds_real ? 1 : unit);
  convolution.added_zero = static_cast<float>(integers.residual.encoding.zero);
  if (convolution.activation.is_curve()) convolution.activation.unit = unit;
  convolution.activation.low *= unit;
  convolution.activation.high *= unit;
}

/// The rounding of the weights changes what they make of a mean pixel: that is taken back. Empty
/// where no means are known, or where the algorithm rounds other factors than the weights.
std::vector<float> corrected_bias(const Builder& builder, LayerId id,
                                  const std::vector<float>& scales) {
  const network::Layer& layer = builder.layer(id);
  const network::Tensor& tensor = builder.tensor(layer.inputs[1]);
  const std::span<const float> means = builder.eight_bits().means(layer.inputs[0]);
  const auto inputs = unsigned_of(tensor.shape[1]);
  const auto groups = unsigned_of(geometry_of(layer.op).groups);
  if (means.size() != inputs * groups || is_winograd(builder, id)) return {};
  std::vector<float> bias(scales.size(), 0.f);
  if (layer.inputs.size() > 2 && layer.inputs[2].valid()) {
    const auto given = builder.tensor(layer.inputs[2]).constant->values<float>();
    bias.assign(given.begin(), given.end());
  }
  const auto weights = tensor.constant->values<float>();
  const std::size_t of_output = weights.size() / scales.size(), taps = of_output / inputs;
  for (std::size_t output = 0; output < scales.size(); ++output) {
    const std::size_t first = output / (scales.size() / groups) * inputs;
    const double scale = double{scales[output]};
    double lost = 0;
    for (std::size_t i = 0; i < of_output; ++i) {
      const double weight = double{weights[output * of_output + i]};
      lost += (weight - scale * std::nearbyint(weight / scale)) * double{means[first + i / taps]};
    }
    bias[output] += static_cast<float>(lost);
  }
  return bias;
}

}  // namespace

bool has_bias(const network::Layer& layer) {
  return layer.inputs.size() > 2 && layer.inputs[2].valid();
}

Geometry geometry_of(const network::Operator& op) {
  if (const auto* conv = std::get_if<network::Conv>(&op))
    return {conv->window, conv->groups, false};
  const auto& conv = std::get<network::ConvTranspose>(op);
  return {conv.window, conv.groups, true};
}

Desc weights_as_given(const Geometry& g, const network::Shape& shape) {
  Dims dims = shape;
  Dims strides = network::strides_of(shape);
  if (g.groups > 1) {
    dims[0] /= g.groups;
    dims.insert(dims.begin(), g.groups);
    strides.insert(strides.begin(), strides[0] * dims[1]);
  }
  const std::size_t outputs = g.groups > 1 ? 1 : 0;
  if (g.transposed) {
    std::swap(dims[outputs], dims[outputs + 1]);
    std::swap(strides[outputs], strides[outputs + 1]);
  }
  return strided_desc(dims, strides);
}

bool has_constants(const Builder& builder, const network::Layer& layer) {
  return is_constant(builder, layer, 1) && is_constant(builder, layer, 2);
}

bool can_be_own(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto* conv = std::get_if<network::Conv>(&layer.op);
  if (conv == nullptr || conv->groups != 1) return false;
  const auto& pads = conv->window.pads_begin;
  const bool crops = std::any_of(pads.begin(), pads.end(), [](auto pad) { return pad < 0; });
  return builder.tensor(layer.inputs[0]).shape.size() == 4 && !crops &&
         has_constants(builder, layer);
}

std::optional<kernels::Activation> piecewise_linear(const network::Unary& function) {
  kernels::Activation result;
  const auto low = static_cast<float>(function.alpha), high = static_cast<float>(function.beta);
  if (function.kind == network::UnaryKind::relu)
    result.low = 0;
  else if (function.kind == network::UnaryKind::leaky_relu)
    result.slope = low;
  else if (function.kind == network::UnaryKind::clip && function.alpha <= function.beta)
    result = {1, low, high};
  else
    return std::nullopt;
  return result;
}

kernels::WindowAxis axis_of(const Builder& builder, LayerId id, std::size_t dimension) {
  const network::Layer& layer = builder.layer(id);
  const network::Window& window = std::get<network::Conv>(layer.op).window;
  return {unsigned_of(builder.tensor(layer.inputs[0]).shape[dimension + 2]),
          unsigned_of(builder.tensor(layer.outputs[0]).shape[dimension + 2]),
          unsigned_of(window.kernel[dimension]),
          unsigned_of(window.strides[dimension]),
          unsigned_of(window.dilations[dimension]),
          unsigned_of(window.pads_begin[dimension])};
}

std::optional<kernels::Activation> activation_of(const Builder& builder, const Group& group) {
  if (group.tail.empty()) return kernels::Activation{};
  if (group.tail.size() > 1 || group.tail[0].kind != Fused::Kind::unary) return std::nullopt;
  return piecewise_linear(std::get<network::Unary>(builder.layer(group.tail[0].layers[0]).op));
}

std::optional<kernels::OwnConvolution> with_tail(const Builder& builder, const Group& group,
                                                 kernels::OwnConvolution result) {
  bool activated = false;
  for (const Fused& fused : group.tail) {
    if (fused.kind == Fused::Kind::residual && !result.adds) {
      result.adds = true;
      result.adds_last = activated;
      continue;
    }
    if (activated) return std::nullopt;
    activated = true;
    if (is_swish(builder, fused)) {
      result.activation.swish = true;
      continue;
    }
    if (is_hard_swish(builder, fused)) {
      if (has_wide_vectors()) return std::nullopt;  // some of those kernels do not know it
      result.activation.hard_swish = true;
      continue;
    }
    if (fused.kind != Fused::Kind::unary) return std::nullopt;
    const auto function =
        piecewise_linear(std::get<network::Unary>(builder.layer(fused.layers[0]).op));
    if (!function) return std::nullopt;
    result.activation = *function;
  }
  return result;
}

std::optional<kernels::OwnConvolution> own_convolution_of(const Builder& builder,
                                                          const Group& group) {
  if (!can_be_own(builder, group.head)) return std::nullopt;
  const network::Layer& layer = builder.layer(group.head);
  const network::Shape& in = builder.tensor(layer.inputs[0]).shape;
  kernels::OwnConvolution result;
  result.images = unsigned_of(in[0]);
  result.channels = unsigned_of(in[1]);
  result.outputs = unsigned_of(builder.tensor(layer.outputs[0]).shape[1]);
  result.height = axis_of(builder, group.head, 0);
  result.width = axis_of(builder, group.head, 1);
  return with_tail(builder, group, result);
}

std::optional<kernels::OwnConvolution> own_convolution_of(const Builder& builder,
                                                          const Group& group,
                                                          const ConstantProduct& product) {
  const Dims dims = dims_of(product.view);
  kernels::OwnConvolution result;
  result.height.input = result.height.output = product.rows;
  result.outputs = unsigned_of(dims[0]);
  result.channels = unsigned_of(dims[1]);
  return with_tail(builder, group, result);
}

/// What packed weights take, in bytes.
struct SizeOfPacked {
  std::size_t operator()(std::monostate) const { return 0; }
  template <class Convolution>
  std::size_t operator()(const Convolution& convolution) const {
    return packed_size(convolution);
  }
};

OwnParts product_parts(Builder& builder, const Group& group, const ConstantProduct& product,
                       const Packing::Own& own) {
  const TensorId id = result_of(builder.network(), group);
  OwnParts parts;
  OwnWork& work = parts.work;
  const bool is_half = std::holds_alternative<kernels::HalfConvolution>(own);
  const Type type = is_half ? type_of(builder, group.head) : Type::f32;
  work.from =
      builder.in_layout(product.source, row_major_desc(builder.tensor(product.source).shape, type));
  work.to = builder.make(id, row_major_desc(builder.tensor(id).shape, type));
  work.adds = residual_of(group) != nullptr;
  const auto size = static_cast<std::int64_t>(std::visit(SizeOfPacked(), own));
  Packing packing{product.view, row_major_desc({size}, Type::u8)};
  packing.own = own;
  work.constants = {builder.in_layout(product.weights, packing)};
  if (!product.bias.valid()) return parts;
  work.constants.push_back(builder.plain(product.bias));
  parts.bias =
      reinterpret_cast<const float*>(builder.program().constant_data(work.constants.back()));
  return parts;
}

const Fused* residual_of(const Group& group) {
  for (const Fused& fused : group.tail)
    if (fused.kind == Fused::Kind::residual) return &fused;
  return nullptr;
}

std::optional<Integers> integers_of(const Builder& builder, const Group& group,
                                    const std::optional<Quantization>& source) {
  if (!is_int8(builder, group.head)) return std::nullopt;
  const network::Layer& layer = builder.layer(group.head);
  const Geometry g = geometry_of(layer.op);
  const network::Tensor& weights = builder.tensor(layer.inputs[1]);
  const TensorId result = result_of(builder.network(), group);
  Integers integers;
  integers.source =
      source ? *source : builder.eight_bits().quantization(layer.inputs[0], group.head);
  if (builder.eight_bits().is_read_in_8_bits(result)) {
    integers.result = builder.eight_bits().quantization(result);
    if (const Fused* residual = residual_of(group))
      integers.residual = builder.eight_bits().quantization(residual->operand);
    const bool zeros = integers.result.encoding.zero != 0 || integers.residual.encoding.zero != 0;
    integers.quantizes_result = !zeros || !is_winograd(builder, group.head);
  }
  integers.weights =
      channel_scales(*weights.constant, weights_as_given(g, weights.shape), g.groups > 1 ? 2 : 1);
  integers.bias = corrected_bias(builder, group.head, integers.weights);
  return integers;
}

std::optional<Quantization> quantization_now(Builder& builder, LayerId id) {
  const Value now = builder.value(builder.layer(id).inputs[0]);
  if (!is_quantized(now.desc)) return std::nullopt;
  if (now.encoding.zero != 0 && !builder.eight_bits().takes_zero(id)) return std::nullopt;
  return Quantization{type_of(now.desc), now.encoding};
}

OwnParts own_parts(Builder& builder, const Group& group, kernels::OwnConvolution& convolution,
                   bool takes_floats) {
  const network::Layer& layer = builder.layer(group.head);
  const TensorId input = layer.inputs[0], result = result_of(builder.network(), group);
  OwnParts parts;
  parts.integers = integers_of(builder, group, quantization_now(builder, group.head));
  const auto& integers = parts.integers;
  const Type computes = type_of(builder, group.head);
  Type reads = computes, writes = computes;
  if (integers) {
    set_numbers(convolution, *integers);
    reads = integers->source.type;
    writes = integers->quantizes_result ? integers->result.type : Type::f32;
    parts.scaled = std::make_shared<const Scaled>(
        scaled_of(builder, layer, *integers, unit_of(*integers) / convolution.activation.unit));
    parts.bias = parts.scaled->bias.data();
  } else {
    if (takes_floats && type_of(builder.value(input).desc) != computes) reads = Type::f32;
    convolution.source = stored_number_of(reads);
    convolution.result = convolution.added = stored_number_of(writes);
    if (has_bias(layer) && builder.tensor(layer.inputs[2]).constant) {
      parts.work.constants = {builder.plain(layer.inputs[2])};
      const std::byte* const bias = builder.program().constant_data(parts.work.constants.front());
      parts.bias = reinterpret_cast<const float*>(bias);
    }
  }
  parts.work.from = builder.in_layout(input, channels_last_desc(builder.tensor(input).shape, reads),
                                      integers ? integers->source.encoding : Encoding());
  parts.work.to =
      builder.make(result, channels_last_desc(builder.tensor(result).shape, writes),
                   integers && integers->quantizes_result ? integers->result.encoding : Encoding());
  parts.work.adds = convolution.adds;
  return parts;
}

}  // namespace millrace::engine::onednn
