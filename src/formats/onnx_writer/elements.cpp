// Several inputs, element by element; other types.
#include "formats/onnx/types.h"
#include "formats/onnx_writer/operators.h"

namespace millrace::formats::onnx_writer {
namespace {

bool is_narrow(DataType type) {
  return type == DataType::int8 || type == DataType::uint8 || type == DataType::int16 ||
         type == DataType::uint16;
}

bool is_arithmetic(BinaryKind kind) {
  return kind == BinaryKind::add || kind == BinaryKind::sub || kind == BinaryKind::mul ||
         kind == BinaryKind::div;
}

}  // namespace

void write(const Binary& op, LayerNodes& layer) {
  const NodeToWrite node = layer.node(std::string(name_of(op)));
  if (op.kind == BinaryKind::fmod) node.set("fmod", std::int64_t{1});
  if (op.kind == BinaryKind::shift_left) node.set("direction", "LEFT");
  if (op.kind == BinaryKind::shift_right) node.set("direction", "RIGHT");
  const bool is_bitwise = op.kind == BinaryKind::bit_and || op.kind == BinaryKind::bit_or ||
                          op.kind == BinaryKind::bit_xor;
  if (is_bitwise) layer.need_opset(18);
  if (is_arithmetic(op.kind) && is_narrow(layer.type())) layer.need_opset(14);
}

void write(const Compare& op, LayerNodes& layer) { layer.node(std::string(name_of(op))); }

void write(const Test& op, LayerNodes& layer) {
  const NodeToWrite node = layer.node(std::string(name_of(op)));
  if (op.kind == TestKind::is_nan) return;
  node.set("detect_negative", std::int64_t{op.negative});
  node.set("detect_positive", std::int64_t{op.positive});
  if (layer.type() == DataType::float16) layer.need_opset(20);
}

void write(const Where&, LayerNodes& layer) { layer.node("Where"); }

void write(const Cast&, LayerNodes& layer) {
  layer.node("Cast").set("to", std::int64_t{onnx::number_of(layer.output_tensor().type)});
}

}  // namespace millrace::formats::onnx_writer
