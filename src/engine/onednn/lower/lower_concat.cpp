// Concat: by copies, by a kernel, and without either where parts are made in place.
#include <algorithm>
#include <optional>

#include "engine/onednn/lower/lower.h"

namespace millrace::engine::onednn {
namespace {

/// The layout of most of the data: one that copying understands, or one that it does not, if more
/// lies so. Where the first part grows already, the rest follows it.
Desc common_layout(Builder& builder, const std::vector<TensorId>& tensors) {
  if (const Desc first = builder.value(tensors[0]).desc; is_slice(first)) return first;
  Desc dense, other;
  Bytes dense_size, other_size;
  for (const TensorId id : tensors) {
    const Desc layout = builder.value(id).desc;
    if (is_row_major(layout)) continue;
    const bool copies = dense_strides(layout).has_value();
    (copies ? dense_size : other_size) += size_of(layout);
    Desc& first = copies ? dense : other;
    if (first.is_zero()) first = layout;
  }
  const Desc& common = dense_size >= other_size ? dense : other;
  return common.is_zero() ? builder.value(tensors[0]).desc : common;
}

/// Copies the parts to where they belong in `whole`, but for one that lies there already. Each
/// consists of `count` pieces without gaps, such as images.
void copy_parts(Builder& builder, const std::vector<Value>& parts, const Value& whole,
                std::size_t count) {
  const auto bytes_of = [&](const Value& value) {
    const auto numbers = static_cast<std::size_t>(network::element_count(dims_of(value.desc)));
    return numbers * dnnl::memory::data_type_size(type_of(value.desc)) / count;
  };
  Value place = whole;
  for (const Value& part : parts) {
    const std::size_t bytes = bytes_of(part);
    if (part.storage != whole.storage) {
      if (count == 1)
        builder.program().copy_part(part, place);
      else
        builder.program().copy({part, place, count, bytes, bytes, bytes_of(whole)});
    }
    place.offset += Bytes{static_cast<std::int64_t>(bytes)};
  }
}

bool concat_by_copies(Builder& builder, const network::Layer& layer, const Desc& model,
                      const Encoding& encoding) {
  const auto axis = static_cast<std::size_t>(std::get<network::Concat>(layer.op).axis);
  const Desc layout = dense_like(model, builder.tensor(layer.outputs[0]).shape);
  std::vector<Value> sources;
  for (const TensorId id : layer.inputs)
    sources.push_back(builder.in_layout(id, dense_like(model, builder.tensor(id).shape), encoding));
  copy_parts(builder, sources, builder.make(layer.outputs[0], layout, encoding),
             pieces_of(layout, axis).count);
  return true;
}

/// Concatenates channels in blocks that all parts fill: in each image, a part follows the other.
/// oneDNN 2.6 copies such parts a few numbers at a time.
bool concat_by_blocks(Builder& builder, const network::Layer& layer, const Desc& model) {
  const network::Shape& shape = builder.tensor(layer.outputs[0]).shape;
  const auto whole = blocks_like(model, shape);
  if (std::get<network::Concat>(layer.op).axis != 1 || !whole) return false;
  std::vector<Desc> layouts;
  for (const TensorId id : layer.inputs) {
    const auto layout = blocks_like(model, builder.tensor(id).shape);
    if (!layout) return false;
    layouts.push_back(*layout);
  }
  std::vector<Value> parts;
  for (std::size_t i = 0; i < layouts.size(); ++i)
    parts.push_back(builder.in_layout(layer.inputs[i], layouts[i]));
  copy_parts(builder, parts, builder.make(layer.outputs[0], *whole),
             static_cast<std::size_t>(shape[0]));
  return true;
}

bool concat_by_kernel(Builder& builder, const network::Layer& layer, const Desc& model,
                      const Encoding& encoding) {
  std::vector<Desc> layouts;
  for (const TensorId id : layer.inputs) {
    const Desc now = retyped(builder.value(id).desc, type_of(model));
    const bool dense = dense_strides(model).has_value();
    layouts.push_back(dense ? dense_like(model, builder.tensor(id).shape) : now);
  }
  const int axis = static_cast<int>(std::get<network::Concat>(layer.op).axis);
  const Kernel kernel = concat(builder.engine(), axis, layouts);
  if (!kernel || kernel.is_slow()) return false;
  std::vector<Operand> reads;
  for (std::size_t i = 0; i < layouts.size(); ++i)
    reads.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i),
                     builder.in_layout(layer.inputs[i], layouts[i], encoding)});
  const Value result = builder.make(layer.outputs[0], kernel.operand(DNNL_ARG_DST), encoding);
  builder.program().run(kernel, reads, {{DNNL_ARG_DST, result}});
  return true;
}

/// Whether the layer reads the first channels of wider pixels as fast as pixels of its own, with
/// the same bits.
bool reads_slices(const Builder& builder, LayerId id, TensorId tensor) {
  const network::Layer& layer = builder.layer(id);
  const auto* const op = std::get_if<network::BatchNormalization>(&layer.op);
  const network::Shape& shape = builder.tensor(tensor).shape;
  constexpr std::int64_t widest_vector = 16;  // the kernels for others round in another way
  return op != nullptr && layer.inputs[0] == tensor && shape[1] % widest_vector == 0;
}

/// The concatenation that puts its other parts behind this tensor's channels, if nobody else minds
/// that the tensor lies among them.
std::optional<LayerId> growth_of(const Builder& builder, TensorId tensor) {
  std::optional<LayerId> next;
  if (builder.is_output(tensor)) return next;
  for (const LayerId reader : builder.topology().consumers[tensor.index]) {
    const auto* const op = std::get_if<network::Concat>(&builder.layer(reader).op);
    if (op == nullptr && reads_slices(builder, reader, tensor)) continue;
    const auto& inputs = builder.layer(reader).inputs;
    if (op == nullptr || next || op->axis != 1 || inputs[0] != tensor ||
        std::count(inputs.begin(), inputs.end(), tensor) != 1)
      return std::nullopt;
    next = reader;
  }
  return next;
}

/// What a chain of such concatenations grows to.
TensorId grown(const Builder& builder, TensorId tensor) {
  while (const auto next = growth_of(builder, tensor)) tensor = builder.layer(*next).outputs[0];
  return tensor;
}

/// Where each part of a growing tensor is copied once, to its place in what it grows to.
bool concat_by_growing(Builder& builder, const network::Layer& layer, const Desc& model) {
  const TensorId output = layer.outputs[0];
  const network::Shape& shape = builder.tensor(output).shape;
  const Desc layout = channels_last_desc(shape);
  const bool grows_already = is_slice(model);
  const bool images = shape.size() >= 3 && !is_row_major(layout) &&
                      same_memory(model, channels_last_desc(dims_of(model)));
  if (!grows_already && (!images || std::get<network::Concat>(layer.op).axis != 1)) return false;
  const TensorId all = grown(builder, output);
  if (!grows_already && all == output) return false;
  std::vector<Value> parts;
  for (const TensorId id : layer.inputs) {
    const bool in_place = grows_already && id == layer.inputs[0];
    const Desc dense = channels_last_desc(builder.tensor(id).shape);
    parts.push_back(in_place ? builder.value(id) : builder.in_layout(id, dense));
  }
  const Desc wide = channels_last_desc(builder.tensor(all).shape);
  Value whole = grows_already ? parts[0] : builder.program().make_temporary(wide);
  whole.desc = wide;
  copy_parts(builder, parts, whole, pieces_of(wide, 1).count);
  whole.desc = first_channels(wide, shape);
  builder.define(output, whole);
  return true;
}

}  // namespace

bool lower_concat(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  Desc model = common_layout(builder, layer.inputs);
  if (concat_by_growing(builder, layer, model)) return true;
  if (!is_quantized(model) && concat_by_blocks(builder, layer, model)) return true;
  Encoding encoding;
  if (is_quantized(model)) {
    const Quantization common = builder.eight_bits().quantization(layer.outputs[0]);
    model = retyped(model, common.type);
    encoding = common.encoding;
  }
  // One core copies faster than the kernel does; several share the kernel's work.
  if (dense_strides(model) && (builder.cores() == 1 || is_row_major(model)))
    return concat_by_copies(builder, layer, model, encoding);
  const Desc last = channels_last_desc(dims_of(model), type_of(model));
  return concat_by_kernel(builder, layer, model, encoding) ||
         concat_by_copies(builder, layer, last, encoding);
}

bool lower_byte_concat(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto lies_so = [&](TensorId part) { return builder.is_channels_last(part); };
  const auto is_empty = [&](TensorId part) {
    return network::element_count(builder.tensor(part).shape) == 0;
  };
  if (std::ranges::none_of(layer.inputs, lies_so) || std::ranges::any_of(layer.inputs, is_empty))
    return false;
  std::vector<Value> parts;
  for (const TensorId part : layer.inputs) parts.push_back(builder.channels_last(part));
  const Desc wide =
      channels_last_desc(builder.tensor(layer.outputs[0]).shape, type_of(parts[0].desc));
  const auto axis = static_cast<std::size_t>(std::get<network::Concat>(layer.op).axis);
  copy_parts(builder, parts, builder.make(layer.outputs[0], wide), pieces_of(wide, axis).count);
  return true;
}

}  // namespace millrace::engine::onednn
