#include "engine/onednn/convolution_parts.h"

#include <utility>

namespace millrace::engine::onednn {

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

const Fused* residual_of(const Group& group) {
  for (const Fused& fused : group.tail)
    if (fused.kind == Fused::Kind::residual) return &fused;
  return nullptr;
}

std::optional<Integers> integers_of(const Builder& builder, const Group& group,
                                    const std::optional<Quantization>& source) {
  if (!builder.is_int8(group.head)) return std::nullopt;
  const network::Layer& layer = builder.layer(group.head);
  const Geometry g = geometry_of(layer.op);
  const network::Tensor& weights = builder.tensor(layer.inputs[1]);
  const TensorId result = result_of(builder.network(), group);
  Integers integers;
  integers.source = source ? *source : builder.quantization(layer.inputs[0]);
  integers.quantizes_result = builder.is_read_in_8_bits(result);
  if (integers.quantizes_result) {
    integers.result = builder.quantization(result);
    if (const Fused* residual = residual_of(group))
      integers.residual = builder.quantization(residual->operand);
  }
  integers.weights =
      channel_scales(*weights.constant, weights_as_given(g, weights.shape), g.groups > 1 ? 2 : 1);
  return integers;
}

std::optional<Quantization> quantization_now(Builder& builder, TensorId id) {
  const Value now = builder.value(id);
  if (!is_quantized(now.desc)) return std::nullopt;
  return Quantization{type_of(now.desc), now.scale};
}

}  // namespace millrace::engine::onednn
