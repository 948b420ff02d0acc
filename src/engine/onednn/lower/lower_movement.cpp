// Layers that only move elements, or only rename them.
#include <algorithm>
#include <optional>

#include "engine/onednn/lower/lower.h"

namespace millrace::engine::onednn {
namespace {

using network::Shape;

/// Parts of a dense tensor along one axis, each beginning at an index of it.
struct Part {
  TensorId tensor;
  std::int64_t begin = 0;
};

bool take_parts(Builder& builder, TensorId whole, std::size_t axis,
                const std::vector<Part>& parts) {
  Desc layout = builder.value(whole).desc;
  if (!dense_strides(layout)) layout = channels_last_desc(dims_of(layout), type_of(layout));
  const Encoding encoding = builder.value(whole).encoding;
  const Value source = builder.in_layout(whole, layout, encoding);
  const Pieces pieces = pieces_of(layout, axis);
  const std::size_t unit =
      pieces.bytes / static_cast<std::size_t>(builder.tensor(whole).shape[axis]);
  constexpr auto alignment = static_cast<std::int64_t>(network::tensor_alignment);
  for (const Part& part : parts) {
    const network::Shape& shape = builder.tensor(part.tensor).shape;
    Value from = source;
    from.offset += Bytes{static_cast<std::int64_t>(unit) * part.begin};
    if (pieces.count == 1 && from.offset.count % alignment == 0) {
      from.desc = dense_like(layout, shape);
      builder.define(part.tensor, from);
      continue;
    }
    const std::size_t bytes = unit * static_cast<std::size_t>(shape[axis]);
    const Value to = builder.make(part.tensor, dense_like(layout, shape), encoding);
    builder.program().copy({from, to, pieces.count, bytes, pieces.bytes, bytes});
  }
  return true;
}

/// Every so many elements along some axes: what lies there, read with wider strides.
bool take_steps(Builder& builder, const network::Layer& layer) {
  const auto& op = std::get<network::Slice>(layer.op);
  const Value whole = builder.value(layer.inputs[0]);
  const auto strides = dense_strides(whole.desc);
  const auto forward = [](std::int64_t step) { return step > 0; };
  if (!strides || is_quantized(whole.desc) ||
      !std::all_of(op.steps.begin(), op.steps.end(), forward))
    return false;
  const Shape& shape = builder.tensor(layer.outputs[0]).shape;
  Dims wider = *strides;
  std::int64_t first = 0;
  for (std::size_t d = 0; d < wider.size(); ++d) {
    first += op.starts[d] * wider[d];
    wider[d] *= op.steps[d];
  }
  Value from = whole;
  const Type type = type_of(whole.desc);
  const auto sparse = sparse_desc(shape, wider, type);
  if (!sparse) return false;
  from.desc = *sparse;
  from.offset += Bytes{first * static_cast<std::int64_t>(dnnl::memory::data_type_size(type))};
  const Desc layout = dense_like(whole.desc, shape);
  const Kernel kernel = reorder(builder.engine(), from.desc, layout, {});
  if (!kernel || kernel.is_slow()) return false;
  builder.program().run(kernel, {{DNNL_ARG_FROM, from}},
                        {{DNNL_ARG_TO, builder.make(layer.outputs[0], layout)}});
  return true;
}

/// Whether images in blocks of channels become rows, whose channels are then turned innermost.
bool becomes_tokens(const Builder& builder, const network::Layer& layer) {
  const Shape& image = builder.tensor(layer.inputs[0]).shape;
  const Shape& rows = builder.tensor(layer.outputs[0]).shape;
  const auto& readers = builder.topology().consumers[layer.outputs[0].index];
  if (rows.size() != 3 || image.size() < 4 || rows[0] != image[0] || rows[1] != image[1] ||
      readers.size() != 1)
    return false;
  const auto* const turn = std::get_if<network::Transpose>(&builder.layer(readers[0]).op);
  return turn != nullptr && turn->permutation == Shape{0, 2, 1};
}

}  // namespace

bool lower_reshape(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const network::Tensor& result = builder.tensor(layer.outputs[0]);
  if (result.shape.size() > 6) return false;
  Value value = builder.value(layer.inputs[0]);
  if (!value.desc.is_zero() && !is_row_major(value.desc) && becomes_tokens(builder, layer))
    value = builder.in_layout(layer.inputs[0],
                              channels_last_desc(dims_of(value.desc), type_of(value.desc)),
                              value.encoding);
  const auto same = value.desc.is_zero() ? std::nullopt : reshaped(value.desc, result.shape);
  if (!same && !value.desc.is_zero())
    value = builder.in_layout(
        layer.inputs[0], row_major_desc(dims_of(value.desc), type_of(value.desc)), value.encoding);
  if (!value.desc.is_zero())
    value.desc = same ? *same : row_major_desc(result.shape, type_of(value.desc));
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
  value.desc = with_usual_strides(strided_desc(new_shape, new_strides, type_of(value.desc)));
  builder.define(layer.outputs[0], value);
  return true;
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
    if (axis || op.steps[d] != 1) return take_steps(builder, layer);
    axis = d;
  }
  if (!axis) return false;
  return take_parts(builder, layer.inputs[0], *axis, {{layer.outputs[0], op.starts[*axis]}});
}

}  // namespace millrace::engine::onednn
