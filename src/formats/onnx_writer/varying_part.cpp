// The nodes of a part whose sizes change from frame to frame, as they were in the file.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <unordered_map>

#include "formats/onnx/model.h"
#include "formats/onnx_writer/free_rows.h"
#include "formats/onnx_writer/operators.h"
#include "formats/onnx_writer/raised.h"

namespace millrace::formats::onnx_writer {
namespace {

constexpr std::int64_t oldest_part = 11;

/// Copies nodes under names of their own.
class Copying {
 public:
  Copying(LayerNodes& layer, Raise raise) : layer_(layer), raise_(raise) {}

  void define(const std::string& name, std::string now) { names_[name] = std::move(now); }
  std::string now(const std::string& name) {
    if (name.empty()) return name;
    const auto known = names_.find(name);
    if (known != names_.end()) return known->second;
    return names_[name] = layer_.graph().unique_name(name);
  }

  void copy(const ::onnx::NodeProto& node) {
    ::onnx::NodeProto& added = layer_.graph().add_node(node.op_type(), node.name());
    const std::string name = added.name();
    added = node;
    added.set_name(name);
    adapt(added);
  }

 private:
  void adapt(::onnx::NodeProto& node) {
    if (!node.domain().empty() && node.domain() != "ai.onnx")
      return layer_.refuse(fmt::format("it has the operator '{}' of the domain '{}'",
                                       node.op_type(), node.domain()));
    for (std::string& input : *node.mutable_input()) input = now(input);
    for (std::string& output : *node.mutable_output()) output = now(output);
    for (::onnx::AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) adapt(*attribute.mutable_g());
    raise_node(layer_, node, raise_);
  }

  void adapt(::onnx::GraphProto& graph) {
    const auto rename = [this](auto& all) {
      for (auto& one : all) one.set_name(now(one.name()));
    };
    rename(*graph.mutable_input());
    rename(*graph.mutable_initializer());
    rename(*graph.mutable_output());
    graph.clear_value_info();
    for (::onnx::NodeProto& node : *graph.mutable_node()) adapt(node);
  }

  LayerNodes& layer_;
  Raise raise_;
  std::unordered_map<std::string, std::string> names_;
};

}  // namespace

void write(const VaryingPart& op, LayerNodes& layer) {
  const auto model = onnx::parse_model(*op.model, "varying_part");
  const std::int64_t opset = onnx::opset_of(*model, "varying_part");
  if (opset < oldest_part)
    return layer.refuse(
        fmt::format("its sizes change from frame to frame, and its nodes are of "
                    "opset {}; expected {} or later",
                    opset, oldest_part));
  layer.need_opset(opset);
  Copying copying(layer, {opset, std::max(opset, layer.graph().form().opset)});
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    copying.define(op.inputs[i], input_as(layer, op.types[i], i));
  for (const ::onnx::NodeProto& node : model->graph().node()) copying.copy(node);
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    if (layer.has_output(i)) write_free_rows(layer, copying.now(op.outputs[i]), i);
}

}  // namespace millrace::formats::onnx_writer
