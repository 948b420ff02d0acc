// Reductions, and what else works along an axis.
#include "formats/onnx_writer/operators.h"
#include "formats/onnx_writer/reductions.h"

namespace millrace::formats::onnx_writer {

std::string add_reduction(LayerNodes& layer, const ReduceNode& reduction, const FromTo& tensors) {
  const bool axes_are_input = layer.graph().form().opset >= 18 || reduction.type == "ReduceSum";
  Names inputs{tensors.from};
  if (axes_are_input && !reduction.axes.empty()) inputs.push_back(integers(layer, reduction.axes));
  const NodeToWrite node = tensors.to.empty() ? layer.inner(reduction.type, inputs)
                                              : layer.node(reduction.type, inputs, {tensors.to});
  if (!axes_are_input && !reduction.axes.empty()) node.set("axes", reduction.axes);
  node.set("keepdims", std::int64_t{reduction.keeps});
  return node.output();
}

void write(const Reduce& op, LayerNodes& layer) {
  const std::size_t rank = layer.input_shape().size();
  if (op.axes.empty() && rank > 0) return layer.refuse("it reduces no dimension");
  // Not all libraries read these axes from an attribute.
  if (op.kind == ReduceKind::l1 || op.kind == ReduceKind::log_sum) layer.need_opset(18);
  const bool keeps = layer.output_shape().size() == rank;
  add_reduction(layer, {std::string(name_of(op)), op.axes, keeps}, {layer.input(), layer.output()});
}

void write(const ArgMax& op, LayerNodes& layer) {
  const bool keeps = layer.output_shape().size() == layer.input_shape().size();
  const NodeToWrite node = layer.node(std::string(name_of(op)));
  node.set("axis", op.axis).set("keepdims", std::int64_t{keeps});
  if (op.select_last) node.set("select_last_index", std::int64_t{1});
}

void write(const TopK& op, LayerNodes& layer) {
  const std::size_t some = layer.has_output(0) ? 0 : 1;
  const Shape k{layer.output_shape(some)[static_cast<std::size_t>(op.axis)]};
  layer.node("TopK", {layer.input(), integers(layer, k)}, layer.all_outputs())
      .set("axis", op.axis)
      .set("largest", std::int64_t{op.largest});
}

void write(const CumSum& op, LayerNodes& layer) {
  layer.node("CumSum", {layer.input(), integer(layer, op.axis)}, layer.outputs())
      .set("exclusive", std::int64_t{op.exclusive})
      .set("reverse", std::int64_t{op.reverse});
}

}  // namespace millrace::formats::onnx_writer
