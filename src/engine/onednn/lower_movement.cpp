// Layers that only move elements, or only rename them.
#include <algorithm>
#include <optional>

#include "engine/onednn/lower.h"

namespace millrace::engine::onednn {
namespace {

using network::Shape;

/// How a dense tensor falls into equal pieces along an axis: `count` times `bytes`.
struct Pieces {
  std::size_t count = 1, bytes = 1;
};

/// All dimensions that lie outside of the axis count pieces; the axis and what lies inside of it is
/// one piece. Dimensions of size 1 lie anywhere.
Pieces pieces_of(const Desc& layout, std::size_t axis) {
  const Dims shape = dims_of(layout), strides = *dense_strides(layout);
  Pieces pieces{1, dnnl::memory::data_type_size(type_of(layout))};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool outside = d != axis && shape[d] > 1 && strides[d] >= strides[axis] * shape[axis];
    (outside ? pieces.count : pieces.bytes) *= static_cast<std::size_t>(shape[d]);
  }
  return pieces;
}

/// The layout of most of the data among those that copying understands.
Desc common_layout(Builder& builder, const std::vector<TensorId>& tensors) {
  for (const TensorId id : tensors) {
    const Desc layout = builder.value(id).desc;
    if (!is_row_major(layout)) return layout;
  }
  return builder.value(tensors[0]).desc;
}

bool concat_by_copies(Builder& builder, const network::Layer& layer, const Desc& model,
                      float scale) {
  const auto axis = static_cast<std::size_t>(std::get<network::Concat>(layer.op).axis);
  const Desc layout = dense_like(model, builder.tensor(layer.outputs[0]).shape);
  std::vector<Value> sources;
  for (const TensorId id : layer.inputs)
    sources.push_back(builder.in_layout(id, dense_like(model, builder.tensor(id).shape), scale));
  const Value result = builder.make(layer.outputs[0], layout, scale);
  const Pieces whole = pieces_of(layout, axis);
  Value part = result;
  for (const Value& source : sources) {
    const std::size_t bytes = static_cast<std::size_t>(size_of(source.desc).count) / whole.count;
    builder.copy({source, part, whole.count, bytes, bytes, whole.bytes});
    part.offset += Bytes{static_cast<std::int64_t>(bytes)};
  }
  return true;
}

bool concat_by_kernel(Builder& builder, const network::Layer& layer, const Desc& model,
                      float scale) {
  std::vector<Desc> layouts;
  for (const TensorId id : layer.inputs) {
    const Desc now = retyped(builder.value(id).desc, type_of(model));
    const bool dense = dense_strides(model).has_value();
    layouts.push_back(dense ? dense_like(model, builder.tensor(id).shape) : now);
  }
  const int axis = static_cast<int>(std::get<network::Concat>(layer.op).axis);
  const Kernel kernel = concat(builder.engine(), axis, layouts);
  if (!kernel) return false;
  std::vector<Operand> reads;
  for (std::size_t i = 0; i < layouts.size(); ++i)
    reads.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i),
                     builder.in_layout(layer.inputs[i], layouts[i], scale)});
  const Value result = builder.make(layer.outputs[0], kernel.operand(DNNL_ARG_DST), scale);
  builder.run(kernel, reads, {{DNNL_ARG_DST, result}});
  return true;
}

/// Parts of a dense tensor along one axis, each beginning at an index of it.
struct Part {
  TensorId tensor;
  std::int64_t begin = 0;
};

bool take_parts(Builder& builder, TensorId whole, std::size_t axis,
                const std::vector<Part>& parts) {
  Desc layout = builder.value(whole).desc;
  if (!dense_strides(layout)) layout = channels_last_desc(dims_of(layout), type_of(layout));
  const float scale = builder.value(whole).scale;
  const Value source = builder.in_layout(whole, layout, scale);
  const Pieces pieces = pieces_of(layout, axis);
  const std::size_t unit =
      pieces.bytes / static_cast<std::size_t>(builder.tensor(whole).shape[axis]);
  for (const Part& part : parts) {
    const network::Shape& shape = builder.tensor(part.tensor).shape;
    Value from = source;
    from.offset += Bytes{static_cast<std::int64_t>(unit) * part.begin};
    const std::size_t bytes = unit * static_cast<std::size_t>(shape[axis]);
    const Value to = builder.make(part.tensor, dense_like(layout, shape), scale);
    builder.copy({from, to, pieces.count, bytes, pieces.bytes, bytes});
  }
  return true;
}

}  // namespace

bool lower_reshape(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const network::Tensor& result = builder.tensor(layer.outputs[0]);
  if (result.shape.size() > 6) return false;
  Value value = builder.row_major(layer.inputs[0]);
  if (!value.desc.is_zero()) value.desc = row_major_desc(result.shape, type_of(value.desc));
  builder.define(layer.outputs[0], value);
  return true;
}

bool lower_transpose(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const Shape& permutation = std::get<network::Transpose>(layer.op).permutation;
  Value value = builder.value(layer.inputs[0]);
  const auto strides = dense_strides(value.desc);
  if (!strides || permutation.empty()) return false;
  const Dims shape = dims_of(value.desc);
  Dims new_shape, new_strides;
  for (const std::int64_t from : permutation) {
    new_shape.push_back(shape[static_cast<std::size_t>(from)]);
    new_strides.push_back((*strides)[static_cast<std::size_t>(from)]);
  }
  value.desc = strided_desc(new_shape, new_strides, type_of(value.desc));
  builder.define(layer.outputs[0], value);
  return true;
}

bool lower_concat(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  Desc model = common_layout(builder, layer.inputs);
  float scale = 1;
  if (is_quantized(model)) {
    const Quantization common = builder.quantization(layer.outputs[0]);
    model = retyped(model, common.type);
    scale = common.scale;
  }
  // One core copies faster than the kernel does; several share the kernel's work.
  if (dense_strides(model) && (builder.cores() == 1 || is_row_major(model)))
    return concat_by_copies(builder, layer, model, scale);
  return concat_by_kernel(builder, layer, model, scale);
}

bool lower_split(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto axis = static_cast<std::size_t>(std::get<network::Split>(layer.op).axis);
  std::vector<Part> parts;
  std::int64_t begin = 0;
  for (const TensorId output : layer.outputs) {
    if (!output.valid()) return false;  // its size is not known here
    parts.push_back({output, begin});
    begin += builder.tensor(output).shape[axis];
  }
  return take_parts(builder, layer.inputs[0], axis, parts);
}

bool lower_slice(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Slice>(layer.op);
  const Shape& in = builder.tensor(layer.inputs[0]).shape;
  const Shape& out = builder.tensor(layer.outputs[0]).shape;
  std::optional<std::size_t> axis;
  for (std::size_t d = 0; d < in.size(); ++d) {
    if (in[d] == out[d] && op.steps[d] == 1) continue;
    if (axis || op.steps[d] != 1) return false;
    axis = d;
  }
  if (!axis) return false;
  return take_parts(builder, layer.inputs[0], *axis, {{layer.outputs[0], op.starts[*axis]}});
}

}  // namespace millrace::engine::onednn
