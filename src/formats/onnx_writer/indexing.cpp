// Elements picked by computed positions.
#include <array>

#include "formats/onnx_writer/operators.h"

namespace millrace::formats::onnx_writer {
namespace {

/// ONNX knows no other indices here.
std::string wide_indices(LayerNodes& layer, std::size_t i) {
  return input_as(layer, DataType::int64, i);
}

void set_reduction(const NodeToWrite& node, Reduction reduction, LayerNodes& layer) {
  constexpr std::array<const char*, 5> names{"none", "add", "mul", "max", "min"};
  if (reduction == Reduction::none) return;
  node.set("reduction", names[static_cast<std::size_t>(reduction)]);
  layer.need_opset(reduction >= Reduction::max ? 18 : 16);
}

}  // namespace

void write(const Gather& op, LayerNodes& layer) { layer.node("Gather").set("axis", op.axis); }

void write(const GatherElements& op, LayerNodes& layer) {
  layer.node("GatherElements").set("axis", op.axis);
}

void write(const GatherNd& op, LayerNodes& layer) {
  layer.node("GatherND", {layer.input(), wide_indices(layer, 1)}, layer.outputs())
      .set("batch_dims", op.batch_dimensions);
}

void write(const ScatterElements& op, LayerNodes& layer) {
  set_reduction(layer.node("ScatterElements").set("axis", op.axis), op.reduction, layer);
}

void write(const ScatterNd& op, LayerNodes& layer) {
  const Names inputs{layer.input(), wide_indices(layer, 1), layer.input(2)};
  set_reduction(layer.node("ScatterND", inputs, layer.outputs()), op.reduction, layer);
}

/// Libraries have few combinations of types: this one, and depths of float32 for int32.
void write(const OneHot& op, LayerNodes& layer) {
  const std::int64_t depth = layer.output_shape()[static_cast<std::size_t>(op.axis)];
  const bool is_int = layer.input_tensor(1).type == DataType::int32;
  const std::string size =
      is_int ? number(layer, static_cast<double>(depth), DataType::float32) : integer(layer, depth);
  layer.node("OneHot", {wide_indices(layer, 0), size, layer.input(1)}, layer.outputs())
      .set("axis", op.axis);
}

}  // namespace millrace::formats::onnx_writer
