#include "formats/onnx_writer/free_rows.h"

namespace millrace::formats::onnx_writer {
namespace {

bool has_negative_values(DataType type) {
  return type != DataType::boolean && type != DataType::uint8 && type != DataType::uint16 &&
         type != DataType::uint32 && type != DataType::uint64;
}

}  // namespace

void write_free_rows(LayerNodes& layer, const std::string& found, std::size_t i) {
  const Tensor& tensor = layer.output_tensor(i);
  const std::string values = cast(layer, found, tensor.type);
  const std::string largest = integers(layer, tensor.shape);
  std::string all = values;
  if (!tensor.shape.empty()) {
    const std::string size = layer.inner("Shape", {values}).output();
    const std::string difference = layer.inner("Sub", {largest, size}).output();
    const std::string none = integers(layer, Shape(tensor.shape.size(), 0));
    // What is larger is not cut off: the Reshape fails.
    const std::string missing = layer.inner("Max", {difference, none}).output();
    const Names zeros_and_missing{none, missing};
    const NodeToWrite pads = layer.inner("Concat", zeros_and_missing);
    pads.set("axis", std::int64_t{0});
    const std::string free = number(layer, has_negative_values(tensor.type) ? -1 : 0, tensor.type);
    all = layer.inner("Pad", {values, pads.output(), free}).output();
  }
  layer.node("Reshape", {all, largest}, {layer.output(i)});
}

}  // namespace millrace::formats::onnx_writer
