#include "formats/onnx_writer/raised.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "formats/zoo/attributes.h"

namespace millrace::formats::onnx_writer {
namespace {

/// Attributes that became the second input.
struct Moved {
  std::string_view type, attribute;
  std::int64_t since;
};
constexpr std::array moved{
    Moved{"Squeeze", "axes", 13},         Moved{"Unsqueeze", "axes", 13},
    Moved{"ReduceSum", "axes", 13},       Moved{"Split", "split", 13},
    Moved{"ReduceMean", "axes", 18},      Moved{"ReduceMax", "axes", 18},
    Moved{"ReduceMin", "axes", 18},       Moved{"ReduceProd", "axes", 18},
    Moved{"ReduceL1", "axes", 18},        Moved{"ReduceL2", "axes", 18},
    Moved{"ReduceLogSum", "axes", 18},    Moved{"ReduceLogSumExp", "axes", 18},
    Moved{"ReduceSumSquare", "axes", 18},
};

bool passes(const Raise& raise, std::int64_t opset) {
  return raise.from < opset && raise.to >= opset;
}

::onnx::AttributeProto* find_attribute(::onnx::NodeProto& node, std::string_view name) {
  for (::onnx::AttributeProto& attribute : *node.mutable_attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

void move_attribute(LayerNodes& layer, ::onnx::NodeProto& node, const Moved& change) {
  for (int i = 0; i < node.attribute_size(); ++i) {
    if (node.attribute(i).name() != change.attribute) continue;
    const auto& values = node.attribute(i).ints();
    node.add_input(integers(layer, Shape(values.begin(), values.end())));
    node.mutable_attribute()->DeleteSubrange(i, 1);
    return;
  }
}

/// Before opset 13 Softmax worked on all dimensions from its axis on.
void refuse_softmax(LayerNodes& layer, ::onnx::NodeProto& node) {
  const ::onnx::AttributeProto* const axis = find_attribute(node, "axis");
  if (axis != nullptr && axis->i() == -1) return;
  layer.refuse(
      fmt::format("it is kept as it was in the file, and the operator '{}' means something else "
                  "since opset 13",
                  node.op_type()));
}

/// Modes have other names since opset 20.
void rename_modes(::onnx::NodeProto& node) {
  ::onnx::AttributeProto* const mode = find_attribute(node, "mode");
  if (mode == nullptr) return;
  if (mode->s() == "bilinear") mode->set_s("linear");
  if (mode->s() == "bicubic") mode->set_s("cubic");
}

}  // namespace

void raise_node(LayerNodes& layer, ::onnx::NodeProto& node, Raise raise) {
  const std::string& type = node.op_type();
  for (const Moved& change : moved)
    if (change.type == type && passes(raise, change.since)) move_attribute(layer, node, change);
  const bool is_soft = type == "Softmax" || type == "LogSoftmax" || type == "Hardmax";
  if (is_soft && raise.from < 13) refuse_softmax(layer, node);
  if (type == "Split" && passes(raise, 18) && node.input_size() < 2)
    zoo::attribute(node, "num_outputs", std::int64_t{node.output_size()});
  if (type == "RoiAlign" && passes(raise, 16))
    zoo::attribute(node, "coordinate_transformation_mode", "output_half_pixel");
  if (type == "GridSample" && passes(raise, 20)) rename_modes(node);
}

}  // namespace millrace::formats::onnx_writer
