// What only moves elements.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "engine/cuda/lower/lower.h"
#include "engine/cuda/lower/places.h"
#include "network/evaluate/evaluate.h"

namespace millrace::engine::cuda {
namespace {

/// Elements of `shape` from one dense tensor, or a part of it, to another.
struct Movement {
  Value in, out;
  network::DataType type = network::DataType::float32;
  network::Shape shape, in_strides, out_strides;
  std::int64_t in_begin = 0, out_begin = 0;
};

std::byte* at_element(const Execution& execution, const Value& value, std::int64_t bytes) {
  return static_cast<std::byte*>(execution.pointer(value)) + bytes;
}

int bytes_of(network::DataType type) { return static_cast<int>(network::size_of(type).count); }

/// `work` is complete but for the places' memory.
void launch_move(Builder& builder, const Movement& m, const MoveWork& work) {
  builder.launch(for_each_element("millrace_move", work.count), {{m.in}, {m.out}},
                 [=](const Execution& execution) {
                   MoveWork placed = work;
                   placed.in.data = at_element(execution, m.in, m.in_begin * work.bytes);
                   placed.out.data = at_element(execution, m.out, m.out_begin * work.bytes);
                   return placed;
                 });
}

void move(Builder& builder, const Movement& m) {
  const JointShape all = joined({m.shape, {m.in_strides, m.out_strides}});
  MoveWork work{};
  work.dimensions = static_cast<int>(all.shape.size());
  set(work.shape, all.shape);
  work.count = static_cast<unsigned>(network::element_count(all.shape));
  work.bytes = bytes_of(m.type);
  work.in = place_with(element_of(m.type), all.strides[0]);
  work.out = place_with(element_of(m.type), all.strides[1]);
  launch_move(builder, m, work);
}

/// From the layer's first input to its first output, both whole.
Movement whole_movement(Builder& builder, const network::Layer& layer) {
  const network::Tensor& out = builder.tensor(layer.outputs[0]);
  return {builder.plain(layer.inputs[0]),
          builder.make(layer.outputs[0]),
          out.type,
          out.shape,
          network::strides_of(builder.tensor(layer.inputs[0]).shape),
          network::strides_of(out.shape)};
}

std::int64_t step_along(const network::Shape& shape, std::int64_t axis) {
  return network::strides_of(shape)[static_cast<std::size_t>(axis)];
}

}  // namespace

/// The same bytes, so that there is nothing to do.
void lower_reshape(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const Form form = builder.value(layer.inputs[0]).form == Form::half ? Form::half : Form::plain;
  builder.define(layer.outputs[0], builder.in_form(layer.inputs[0], form));
}

void lower_transpose(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  Movement m = whole_movement(builder, layer);
  const network::Shape from = m.in_strides;
  const network::Shape& permutation = std::get<network::Transpose>(layer.op).permutation;
  std::ranges::transform(permutation, m.in_strides.begin(),
                         [&](std::int64_t d) { return from[static_cast<std::size_t>(d)]; });
  move(builder, m);
}

void lower_slice(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Slice>(layer.op);
  Movement m = whole_movement(builder, layer);
  for (std::size_t d = 0; d < m.shape.size(); ++d) {
    m.in_begin += op.starts[d] * m.in_strides[d];
    m.in_strides[d] *= op.steps[d];
  }
  move(builder, m);
}

void lower_split(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const std::int64_t axis = std::get<network::Split>(layer.op).axis;
  const network::Tensor& from = builder.tensor(layer.inputs[0]);
  const Value in = builder.plain(layer.inputs[0]);
  std::int64_t begin = 0;
  for (const TensorId output : layer.outputs) {
    if (!output.valid()) continue;
    const network::Shape& shape = builder.tensor(output).shape;
    move(builder, {in, builder.make(output), from.type, shape, network::strides_of(from.shape),
                   network::strides_of(shape), begin * step_along(from.shape, axis), 0});
    begin += shape[static_cast<std::size_t>(axis)];
  }
}

namespace {

/// float16 with channels innermost if all inputs lie so and are joined along the channels.
Form form_of_concat(Builder& builder, const network::Layer& layer, std::int64_t axis) {
  const bool keeps = axis == 1 && std::ranges::all_of(layer.inputs, [&](TensorId id) {
                       return builder.value(id).form == Form::half_channels_last;
                     });
  return keeps ? Form::half_channels_last : Form::plain;
}

/// The parts of a concatenation that one kernel copies.
void launch_concat(Builder& builder, const ConcatWork& work, const std::vector<Value>& parts,
                   const Value& out) {
  builder.launch(for_each_element("millrace_concat", work.count), {parts, {out}},
                 [=](const Execution& execution) {
                   ConcatWork placed = work;
                   for (std::size_t i = 0; i < parts.size(); ++i)
                     placed.from[i] = execution.pointer(parts[i]);
                   placed.out.data = execution.pointer(out);
                   return placed;
                 });
}

}  // namespace

void lower_concat(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const std::int64_t axis = std::get<network::Concat>(layer.op).axis;
  const network::Tensor& to = builder.tensor(layer.outputs[0]);
  const Form form = form_of_concat(builder, layer, axis);
  std::vector<Value> inputs;
  for (const TensorId input : layer.inputs) inputs.push_back(builder.in_form(input, form));
  const Value out = builder.make(layer.outputs[0], form);
  // Elements of each step along the axis that lie one behind the other.
  const std::int64_t inner = is_half(form) ? 1 : step_along(to.shape, axis);
  const auto row_of = [&](const network::Tensor& tensor) {
    return static_cast<int>(tensor.shape[static_cast<std::size_t>(axis)] * inner);
  };
  ConcatWork work{};
  work.row = row_of(to);
  work.outer = static_cast<int>(network::element_count(to.shape) / work.row);
  work.bytes = is_half(form) ? 2 : bytes_of(to.type);
  std::vector<Value> parts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int size = row_of(builder.tensor(layer.inputs[i]));
    work.begins[parts.size()] = work.first + work.covered;
    work.sizes[parts.size()] = size;
    work.covered += size;
    parts.push_back(inputs[i]);
    if (parts.size() < max_parts && i + 1 < inputs.size()) continue;
    work.parts = static_cast<int>(parts.size());
    work.count = static_cast<unsigned>(work.outer) * static_cast<unsigned>(work.covered);
    launch_concat(builder, work, parts, out);
    work.first += std::exchange(work.covered, 0);
    parts.clear();
  }
}

/// Each dimension of the output is a repetition and, within it, a dimension of the input.
void lower_tile(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  Movement m = whole_movement(builder, layer);
  const network::Shape& in_shape = builder.tensor(layer.inputs[0]).shape;
  const network::Shape result = m.shape, from = m.in_strides, to = m.out_strides;
  m.shape = m.in_strides = m.out_strides = {};
  for (std::size_t d = 0; d < in_shape.size(); ++d) {
    m.shape.insert(m.shape.end(), {result[d] / in_shape[d], in_shape[d]});
    m.in_strides.insert(m.in_strides.end(), {0, from[d]});
    m.out_strides.insert(m.out_strides.end(), {to[d] * in_shape[d], to[d]});
  }
  move(builder, m);
}

void lower_depth_to_space(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::DepthToSpace>(layer.op);
  Movement m = whole_movement(builder, layer);
  const network::Shape& in = builder.tensor(layer.inputs[0]).shape;
  const std::int64_t b = op.block, c = m.shape[1], plane = in[2] * in[3];
  const std::int64_t c_step = op.column_row_depth ? b * b * plane : plane;
  const std::int64_t block_step = op.column_row_depth ? plane : c * plane;
  m.shape = {m.shape[0], c, in[2], b, in[3], b};
  m.in_strides = {c * b * b * plane, c_step, in[3], b * block_step, 1, block_step};
  m.out_strides = network::strides_of(m.shape);
  move(builder, m);
}

namespace {

/// The bits of the number in an element of this type.
unsigned long long bits_of(double number, network::DataType type) {
  const network::Array one =
      network::make_array<double>(network::DataType::float64, {}, std::array{number});
  unsigned long long bits = 0;
  const network::Array cast = network::converted(one, type);
  std::memcpy(&bits, cast.bytes().data(), cast.bytes().size());
  return bits;
}

Filling filling_of(network::PadMode mode) {
  switch (mode) {
    case network::PadMode::reflect:
      return fill_reflected;
    case network::PadMode::edge:
      return fill_edge;
    case network::PadMode::wrap:
      return fill_wrapped;
    default:
      return fill_value;
  }
}

}  // namespace

/// What is cropped is no part of the input that the rest is filled from.
void lower_pad(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Pad>(layer.op);
  const network::Shape& in = builder.tensor(layer.inputs[0]).shape;
  Movement m = whole_movement(builder, layer);
  MoveWork work{};
  work.dimensions = static_cast<int>(m.shape.size());
  set(work.shape, m.shape);
  work.count = static_cast<unsigned>(network::element_count(m.shape));
  work.bytes = bytes_of(m.type);
  work.pads = 1;
  work.filling = filling_of(op.mode);
  work.value = bits_of(op.value, m.type);
  for (std::size_t d = 0; d < m.shape.size(); ++d) {
    const std::int64_t first = std::max<std::int64_t>(op.begin[d], 0);
    const std::int64_t end = std::min(op.begin[d] + in[d], m.shape[d]);
    work.begin[d] = static_cast<int>(first);
    work.in_shape[d] = static_cast<int>(std::max<std::int64_t>(end - first, 0));
    if (work.in_shape[d] == 0) work.filling = fill_value;
    m.in_begin += std::max<std::int64_t>(-op.begin[d], 0) * m.in_strides[d];
  }
  work.in = place_with(element_of(m.type), m.in_strides);
  work.out = place_with(element_of(m.type), m.out_strides);
  launch_move(builder, m, work);
}

void lower_gather(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto axis = static_cast<std::size_t>(std::get<network::Gather>(layer.op).axis);
  const network::Tensor& data = builder.tensor(layer.inputs[0]);
  const network::Tensor& indices = builder.tensor(layer.inputs[1]);
  const auto product = [&](std::size_t from, std::size_t to) {
    const auto begin = data.shape.begin();
    return static_cast<int>(network::element_count(
        {begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to)}));
  };
  GatherWork work{};
  work.outer = product(0, axis);
  work.size = static_cast<int>(data.shape[axis]);
  work.inner = product(axis + 1, data.shape.size());
  work.indices_count = static_cast<int>(network::element_count(indices.shape));
  work.bytes = bytes_of(data.type);
  work.count =
      static_cast<unsigned>(network::element_count(builder.tensor(layer.outputs[0]).shape));
  work.indices.element = element_of(indices.type);
  const Value from = builder.plain(layer.inputs[0]), at = builder.plain(layer.inputs[1]);
  const Value out = builder.make(layer.outputs[0]);
  const Value fault = builder.fault(layer.name + ": an index is not within the " +
                                    std::to_string(work.size) + " elements of the axis");
  builder.launch(for_each_element("millrace_gather", work.count), {{from, at}, {out, fault}},
                 [=](const Execution& execution) {
                   GatherWork placed = work;
                   placed.data.data = execution.pointer(from);
                   placed.indices.data = execution.pointer(at);
                   placed.out.data = execution.pointer(out);
                   placed.fault = static_cast<int*>(execution.pointer(fault));
                   return placed;
                 });
}

}  // namespace millrace::engine::cuda
