// Nodes that are written as they were in the file: of a part whose sizes change from frame to
// frame, and those that only an engine knows.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <map>
#include <unordered_map>

#include "formats/onnx/model.h"
#include "formats/onnx/types.h"
#include "formats/onnx_writer/free_rows.h"
#include "formats/onnx_writer/operators.h"
#include "formats/onnx_writer/raised.h"

namespace millrace::formats::onnx_writer {
namespace {

constexpr std::int64_t oldest_part = 11;

/// Copies nodes under names of their own.
class Copying {
 public:
  Copying(LayerNodes& layer, const ::onnx::ModelProto& model, std::int64_t opset)
      : layer_(layer), raise_{opset, std::max(opset, layer.graph().form().opset)} {
    for (const ::onnx::OperatorSetIdProto& each : model.opset_import())
      domains_[each.domain()] = each.version();
  }

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
    const bool is_own = node.domain().empty() || node.domain() == "ai.onnx";
    if (!is_own && !domains_.contains(node.domain()))
      return layer_.refuse(fmt::format("it has the operator '{}' of the domain '{}', and the model "
                                       "says no version of it",
                                       node.op_type(), node.domain()));
    if (!is_own) layer_.graph().need_domain(node.domain(), domains_.at(node.domain()));
    for (std::string& input : *node.mutable_input()) input = now(input);
    for (std::string& output : *node.mutable_output()) output = now(output);
    for (::onnx::AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) adapt(*attribute.mutable_g());
    if (is_own) raise_node(layer_, node, raise_);
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
  std::map<std::string, std::int64_t> domains_;  // their versions
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
  Copying copying(layer, *model, opset);
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    copying.define(op.inputs[i], input_as(layer, op.types[i], i));
  for (const ::onnx::NodeProto& node : model->graph().node()) copying.copy(node);
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    if (layer.has_output(i)) write_free_rows(layer, copying.now(op.outputs[i]), i);
}

void write(const Opaque& op, LayerNodes& layer) {
  const auto model = onnx::parse_model(*op.model, op.name);
  const std::int64_t opset = onnx::opset_of(*model, op.name);
  layer.need_opset(opset);
  Copying copying(layer, *model, opset);
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    copying.define(op.inputs[i], input_as(layer, op.types[i], i));
  const bool is_asked = op.made.empty();
  const auto is_as_made = [&](std::size_t i) {
    return is_asked || (op.made[i] == layer.output_tensor(i).type && !op.varies[i]);
  };
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    if (layer.has_output(i) && is_as_made(i)) copying.define(op.outputs[i], layer.output(i));
  for (const ::onnx::NodeProto& node : model->graph().node()) copying.copy(node);
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (!layer.has_output(i) || is_as_made(i)) continue;
    const std::string made = copying.now(op.outputs[i]);
    if (op.varies[i])
      write_free_rows(layer, made, i);
    else
      layer.node("Cast", {made}, {layer.output(i)})
          .set("to", std::int64_t{onnx::number_of(layer.output_tensor(i).type)});
  }
}

}  // namespace millrace::formats::onnx_writer
