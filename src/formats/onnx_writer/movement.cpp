// Elements in other places.
#include <algorithm>

#include "formats/onnx_writer/operators.h"

namespace millrace::formats::onnx_writer {
namespace {

/// The end of a range of so many elements, as ONNX writes it; before the first element it is
/// less than the negative size.
std::int64_t end_of(std::int64_t start, std::int64_t step, std::int64_t count, std::int64_t size) {
  if (count == 0) return start;
  const std::int64_t last = start + (count - 1) * step;
  if (step > 0) return last + 1;
  return last == 0 ? -size - 1 : last - 1;
}

const char* name_of_mode(PadMode mode) {
  constexpr const char* names[]{"constant", "reflect", "edge", "wrap"};
  return names[static_cast<std::size_t>(mode)];
}

}  // namespace

void write(const Concat& op, LayerNodes& layer) { layer.node("Concat").set("axis", op.axis); }

void write(const Split& op, LayerNodes& layer) {
  Shape parts;
  for (std::size_t i = 0; i < layer.output_count(); ++i) {
    if (!layer.has_output(i)) return layer.refuse("the size of a part is not known");
    parts.push_back(layer.output_shape(i)[static_cast<std::size_t>(op.axis)]);
  }
  layer.node("Split", {layer.input(), integers(layer, parts)}, layer.outputs())
      .set("axis", op.axis);
}

void write(const Slice& op, LayerNodes& layer) {
  const Shape &in = layer.input_shape(), &out = layer.output_shape();
  Shape starts, ends, axes, steps;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (op.starts[i] == 0 && op.steps[i] == 1 && in[i] == out[i]) continue;
    starts.push_back(op.starts[i]);
    ends.push_back(end_of(op.starts[i], op.steps[i], out[i], in[i]));
    axes.push_back(static_cast<std::int64_t>(i));
    steps.push_back(op.steps[i]);
  }
  if (axes.empty()) {
    layer.node("Identity");
    return;
  }
  Names inputs{layer.input()};
  for (const Shape* values : {&starts, &ends, &axes, &steps})
    inputs.push_back(integers(layer, *values));
  layer.node("Slice", inputs, layer.outputs());
}

void write(const Reshape&, LayerNodes& layer) {
  const Shape& shape = layer.output_shape();
  const NodeToWrite node =
      layer.node("Reshape", {layer.input(), integers(layer, shape)}, layer.outputs());
  if (std::find(shape.begin(), shape.end(), 0) == shape.end()) return;
  node.set("allowzero", std::int64_t{1});
  layer.need_opset(14);
}

void write(const Transpose& op, LayerNodes& layer) {
  layer.node("Transpose").set("perm", op.permutation);
}

void write(const Tile&, LayerNodes& layer) {
  const Shape &in = layer.input_shape(), &out = layer.output_shape();
  Shape repeats;
  for (std::size_t i = 0; i < in.size(); ++i) repeats.push_back(in[i] == 0 ? 1 : out[i] / in[i]);
  layer.node("Tile", {layer.input(), integers(layer, repeats)}, layer.outputs());
}

void write(const Pad& op, LayerNodes& layer) {
  Shape pads = op.begin;
  pads.insert(pads.end(), op.end.begin(), op.end.end());
  Names inputs{layer.input(), integers(layer, pads)};
  if (op.mode == PadMode::constant && op.value != 0) inputs.push_back(number(layer, op.value));
  layer.node("Pad", inputs, layer.outputs()).set("mode", name_of_mode(op.mode));
  if (op.mode == PadMode::wrap) layer.need_opset(19);
}

void write(const DepthToSpace& op, LayerNodes& layer) {
  layer.node("DepthToSpace")
      .set("blocksize", op.block)
      .set("mode", op.column_row_depth ? "CRD" : "DCR");
}

}  // namespace millrace::formats::onnx_writer
