// Conv and ConvTranspose, with what is fused into them.
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "engine/onednn/lower.h"
#include "engine/onednn/post_ops.h"

namespace millrace::engine::onednn {
namespace {

using network::Shape;

/// Conv and ConvTranspose alike.
struct Geometry {
  network::Window window;
  std::int64_t groups = 1;
  bool transposed = false;
};

Geometry geometry_of(const network::Operator& op) {
  if (const auto* conv = std::get_if<network::Conv>(&op))
    return {conv->window, conv->groups, false};
  const auto& conv = std::get<network::ConvTranspose>(op);
  return {conv.window, conv.groups, true};
}

/// The weights' memory as oneDNN counts it: (groups,) outputs, inputs, kernel.
Desc weights_as_given(const Geometry& g, const Shape& shape) {
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

/// The end padding that gives exactly the output's size, which holds the output padding already.
Dims end_pads_of_transposed(const network::Window& window, const Shape& input,
                            const Shape& output) {
  Dims pads;
  for (std::size_t d = 0; d < window.kernel.size(); ++d) {
    const std::int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    const std::int64_t whole = (input[d + 2] - 1) * window.strides[d] + extent;
    pads.push_back(whole - output[d + 2] - window.pads_begin[d]);
  }
  return pads;
}

std::optional<ConvolutionSpec> spec_of(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const Geometry g = geometry_of(layer.op);
  const Shape& input = builder.tensor(layer.inputs[0]).shape;
  const Shape& weights = builder.tensor(layer.inputs[1]).shape;
  const Shape& output = builder.tensor(layer.outputs[0]).shape;
  const auto negative = [](std::int64_t pad) { return pad < 0; };
  const auto& pads = g.window.pads_begin;
  if (std::any_of(pads.begin(), pads.end(), negative)) return std::nullopt;
  ConvolutionSpec spec;
  spec.transposed = g.transposed;
  const Type type = builder.type(id);
  spec.algorithm = builder.variant(id).algorithm;
  spec.source = any_desc(input, type);
  spec.weights = any_desc(dims_of(weights_as_given(g, weights)), type);
  spec.destination = any_desc(output, type);
  if (layer.inputs.size() > 2 && layer.inputs[2].valid()) spec.bias = plain_desc({output[1]});
  spec.strides = g.window.strides;
  spec.dilations = g.window.dilations;
  for (auto& dilation : spec.dilations) --dilation;
  spec.pads_begin = g.window.pads_begin;
  spec.pads_end =
      g.transposed ? end_pads_of_transposed(g.window, input, output) : g.window.pads_end;
  return spec;
}

Kernel kernel_of(const Builder& builder, const Group& group) {
  const auto spec = spec_of(builder, group.head);
  const auto post_ops =
      post_ops_of(builder, group, builder.tensor(builder.layer(group.head).outputs[0]).shape);
  if (!spec || !post_ops) return {};
  return convolution(builder.engine(), *spec, *post_ops);
}

}  // namespace

bool accepts_convolution(Builder& builder, const Group& group) {
  const Kernel fused = kernel_of(builder, group);
  if (!fused || fused.is_slow()) return false;
  const Kernel alone = kernel_of(builder, {group.head, {}});
  const bool falls_back = fused.name.find("gemm") != std::string::npos;
  return alone.name == fused.name || !falls_back;
}

std::vector<std::string> convolution_algorithms(const Builder& builder, LayerId layer) {
  const auto spec = spec_of(builder, layer);
  if (!spec) return {};
  return convolution_algorithms(builder.engine(), *spec);
}

bool lower_convolution(Builder& builder, const Group& group) {
  const Kernel kernel = kernel_of(builder, group);
  const std::string asked = builder.variant(group.head).algorithm;
  if (!kernel && !asked.empty())
    throw InputError(builder.layer(group.head).name,
                     "oneDNN has no algorithm '" + asked + "' for it here; measure again");
  if (!kernel || (kernel.is_slow() && group.tail.empty())) return false;
  const network::Layer& layer = builder.layer(group.head);
  const Desc given = weights_as_given(geometry_of(layer.op), builder.tensor(layer.inputs[1]).shape);
  std::vector<Operand> reads{
      {DNNL_ARG_SRC, builder.in_layout(layer.inputs[0], kernel.operand(DNNL_ARG_SRC))},
      {DNNL_ARG_WEIGHTS,
       builder.in_layout(layer.inputs[1], Packing{given, kernel.operand(DNNL_ARG_WEIGHTS)})}};
  if (layer.inputs.size() > 2 && layer.inputs[2].valid())
    reads.push_back({DNNL_ARG_BIAS, builder.plain(layer.inputs[2])});
  const Value result =
      builder.make(result_of(builder.network(), group), kernel.operand(DNNL_ARG_DST));
  const auto more = post_operands(builder, group, result);
  reads.insert(reads.end(), more.begin(), more.end());
  builder.run(kernel, reads, {{DNNL_ARG_DST, result}});
  return true;
}

}  // namespace millrace::engine::onednn
