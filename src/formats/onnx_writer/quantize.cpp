// From real numbers to integers and back.
#include "formats/onnx_writer/operators.h"

namespace millrace::formats::onnx_writer {
namespace {

bool needs_opset_21(DataType type, const Scaling& scaling) {
  return type == DataType::int16 || type == DataType::uint16 || scaling.block != 0;
}

void set_scaling(const NodeToWrite& node, const Scaling& scaling, LayerNodes& layer) {
  if (layer.input_shape(1).empty()) return;
  node.set("axis", scaling.axis);
  if (scaling.block != 0) node.set("block_size", scaling.block);
}

/// The inputs with a zero point, which tells the type.
Names with_zero_point(LayerNodes& layer, DataType type) {
  Names names = layer.inputs();
  if (layer.has_input(2) || type == DataType::uint8) return names;
  names.resize(3);
  const Shape& shape = layer.input_shape(1);
  names[2] = layer.constant(make_array(type, shape, Buffer(size_of(type) * element_count(shape))));
  return names;
}

}  // namespace

void write(const QuantizeLinear& op, LayerNodes& layer) {
  const DataType type = layer.output_tensor().type;
  const NodeToWrite node =
      layer.node("QuantizeLinear", with_zero_point(layer, type), layer.outputs());
  set_scaling(node, op.scaling, layer);
  if (layer.type() == DataType::float16) layer.need_opset(19);
  if (needs_opset_21(type, op.scaling)) layer.need_opset(21);
}

void write(const DequantizeLinear& op, LayerNodes& layer) {
  set_scaling(layer.node("DequantizeLinear"), op.scaling, layer);
  if (layer.output_tensor().type == DataType::float16) layer.need_opset(19);
  if (needs_opset_21(layer.type(), op.scaling)) layer.need_opset(21);
}

void write(const DynamicQuantizeLinear&, LayerNodes& layer) {
  layer.node("DynamicQuantizeLinear", layer.inputs(), layer.all_outputs());
}

}  // namespace millrace::formats::onnx_writer
