// From real numbers to integers and back.
#include <fmt/format.h>

#include "formats/onnx/lower.h"
#include "formats/onnx/quantized.h"

namespace millrace::formats::onnx {
namespace {

constexpr std::size_t data = 0, scale = 1, zero_point = 2;  // inputs

void check_scale_type(const Node& node, DataType wanted) {
  if (node.type(scale) != wanted)
    node.fail(fmt::format("the scale '{}' has type {}, expected {}", node.tensor(scale).name,
                          to_text(node.type(scale)), to_text(wanted)));
}

/// The shape of the scales of blocks.
Shape shape_of_blocks(const Node& node, const Scaling& scaling) {
  Shape shape = node.shape(data);
  std::int64_t& size = shape[static_cast<std::size_t>(scaling.axis)];
  size = size / scaling.block + (size % scaling.block == 0 ? 0 : 1);
  return shape;
}

/// How scale and zero point spread over the data.
Scaling read_scaling(const Node& node) {
  const Shape found = node.shape(scale);
  const bool single = found.size() <= 1 && element_count(found) == 1;
  if (node.has(zero_point) && node.shape(zero_point) != found &&
      !(single && element_count(node.shape(zero_point)) == 1))
    node.fail(fmt::format("the zero point '{}' has shape {}, expected {} like the scale",
                          node.tensor(zero_point).name, to_text(node.shape(zero_point)),
                          to_text(found)));
  Scaling scaling;
  scaling.block = node.attributes().integer("block_size", 0);
  if (scaling.block < 0)
    node.fail(fmt::format("the attribute 'block_size' is {}, expected 0 or more", scaling.block));
  if (single && scaling.block == 0) return scaling;
  scaling.axis = normalized(node, node.attributes().integer("axis", 1), node.rank(data));
  const Shape expected = scaling.block > 0
                             ? shape_of_blocks(node, scaling)
                             : Shape{node.shape(data)[static_cast<std::size_t>(scaling.axis)]};
  if (found != expected)
    node.fail(
        fmt::format("the scale '{}' has shape {}, expected {} for the input's {} along the "
                    "axis {}",
                    node.tensor(scale).name, to_text(found), to_text(expected),
                    to_text(node.shape(data)), scaling.axis));
  return scaling;
}

/// From the zero point, or since opset 21 from an attribute.
DataType quantized_type(const Node& node) {
  DataType type = node.has(zero_point) ? node.type(zero_point) : DataType::uint8;
  if (node.attributes().integer("output_dtype", 0) != 0) {
    const DataType asked = node.attributes().type("output_dtype");
    if (node.has(zero_point) && asked != type)
      node.fail(
          fmt::format("the attribute 'output_dtype' asks for {}, but the zero point '{}' has "
                      "type {}",
                      to_text(asked), node.tensor(zero_point).name, to_text(type)));
    type = asked;
  }
  if (!is_small_integer(type))
    node.fail(fmt::format("quantises to {}, expected int8, uint8, int16 or uint16", to_text(type)));
  return type;
}

/// Since opset 23 the quotient may be asked for in another type.
void check_precision(const Node& node) {
  if (node.attributes().integer("precision", 0) == 0) return;
  const DataType type = node.attributes().type("precision");
  if (type != DataType::float32 && type != node.type(scale))
    node.fail("the attribute 'precision' asks for another type than float32, which is not "
              "supported; leave it out");
}

/// Since opset 23 the result may be asked for in another type than the scale's.
void check_result(const Node& node) {
  if (node.attributes().integer("output_dtype", 0) != 0 &&
      node.attributes().type("output_dtype") != node.type(scale))
    node.fail(fmt::format("the attribute 'output_dtype' asks for another type than {} of the "
                          "scale, which is not supported; leave it out",
                          to_text(node.type(scale))));
}

}  // namespace

void lower_quantize_linear(Node& node) {
  check_precision(node);
  const DataType type = node.type(data);
  if (type != DataType::float32 && type != DataType::float16 && type != DataType::int32)
    node.fail(fmt::format("the input '{}' has type {}, expected float32, float16 or int32",
                          node.tensor(data).name, to_text(type)));
  check_scale_type(node, type == DataType::int32 ? DataType::float32 : type);
  const QuantizeLinear op{read_scaling(node)};
  node.give(0, node.add(op, node.inputs(), {quantized_type(node), node.shape(data)}));
}

void lower_dequantize_linear(Node& node) {
  check_result(node);
  const DataType type = node.type(data);
  if (!is_small_integer(type) && type != DataType::int32)
    node.fail(
        fmt::format("the input '{}' has type {}, expected int8, uint8, int16, uint16 or "
                    "int32",
                    node.tensor(data).name, to_text(type)));
  if (node.has(zero_point) && node.type(zero_point) != type)
    node.fail(fmt::format("the zero point '{}' has type {}, expected {} like the input",
                          node.tensor(zero_point).name, to_text(node.type(zero_point)),
                          to_text(type)));
  if (node.type(scale) != DataType::float16) check_scale_type(node, DataType::float32);
  const DequantizeLinear op{read_scaling(node)};
  node.give(0, node.add(op, node.inputs(), {node.type(scale), node.shape(data)}));
}

void lower_dynamic_quantize_linear(Node& node) {
  if (node.type(data) != DataType::float32)
    node.fail(fmt::format("the input '{}' has type {}, expected float32", node.tensor(data).name,
                          to_text(node.type(data))));
  std::vector<std::optional<Made>> made{Made{DataType::uint8, node.shape(data)},
                                        Made{DataType::float32, {}}, Made{DataType::uint8, {}}};
  for (std::size_t i = 1; i < made.size(); ++i)
    if (!node.wants(i)) made[i].reset();
  const std::vector<TensorId> outputs = node.add(DynamicQuantizeLinear{}, {node.input(data)}, made);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].valid()) node.give(i, outputs[i]);
}

}  // namespace millrace::formats::onnx
