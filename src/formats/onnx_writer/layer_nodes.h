#pragma once
// One layer while it is written as nodes.
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx_writer/graph.h"
#include "formats/zoo/attributes.h"

namespace millrace::formats::onnx_writer {

/// A node that has been added; set() gives it an attribute.
class NodeToWrite {
 public:
  explicit NodeToWrite(::onnx::NodeProto& proto) : proto_(&proto) {}

  template <class Value>  // as zoo::attribute takes it
  const NodeToWrite& set(const char* name, const Value& value) const {
    zoo::attribute(*proto_, name, value);
    return *this;
  }
  /// The name of its first output.
  const std::string& output() const { return proto_->output(0); }

 private:
  ::onnx::NodeProto* proto_;
};

using Names = std::vector<std::string>;

/// Borrows the graph.
class LayerNodes {
 public:
  LayerNodes(Graph& graph, const Layer& layer);

  Graph& graph() { return graph_; }
  void need_opset(std::int64_t version) { graph_.need_opset(version); }
  /// Says why the layer cannot be written; what is written of it does not matter then.
  void refuse(std::string reason) { refusal_ = std::move(reason); }
  const std::string& refusal() const { return refusal_; }

  bool has_input(std::size_t i) const {
    return i < layer_.inputs.size() && layer_.inputs[i].valid();
  }
  std::size_t output_count() const { return layer_.outputs.size(); }
  bool has_output(std::size_t i) const { return i < output_count() && layer_.outputs[i].valid(); }
  /// A tensor of the layer, which must be there.
  const Tensor& input_tensor(std::size_t i) const { return graph_.network()[layer_.inputs[i]]; }
  const Tensor& output_tensor(std::size_t i = 0) const;
  const Shape& input_shape(std::size_t i = 0) const { return input_tensor(i).shape; }
  const Shape& output_shape(std::size_t i = 0) const { return output_tensor(i).shape; }
  DataType type() const { return input_tensor(0).type; }

  /// Names in the graph; empty for what is left out.
  std::string input(std::size_t i = 0);
  Names inputs();
  std::string output(std::size_t i = 0);
  Names outputs();
  /// With a name for each output, for operators whose outputs must all be there.
  Names all_outputs();

  /// Adds a node that makes these outputs.
  NodeToWrite node(const std::string& type, const Names& inputs, const Names& outputs);
  /// Adds the node that makes the layer's outputs from its inputs.
  NodeToWrite node(const std::string& type) { return node(type, inputs(), outputs()); }
  /// Adds a node between others, with one output of a new name.
  NodeToWrite inner(const std::string& type, const Names& inputs);

  std::string constant(const Array& value);

 private:
  Graph& graph_;
  const Layer& layer_;
  std::string refusal_;
  std::size_t nodes_ = 0;
};

std::string integers(LayerNodes& layer, const Shape& values);  // int64, one dimension
std::string integer(LayerNodes& layer, std::int64_t value);    // int64, a scalar
/// A scalar of the type; without one: that of the layer's first input.
std::string number(LayerNodes& layer, double value, DataType type);
std::string number(LayerNodes& layer, double value);
/// Adds a Cast, and gives its output.
std::string cast(LayerNodes& layer, const std::string& x, DataType type);
/// Input `i` in this type.
std::string input_as(LayerNodes& layer, DataType type, std::size_t i);
/// Adds a Reshape, and gives its output.
std::string reshaped(LayerNodes& layer, const std::string& x, const Shape& shape);

}  // namespace millrace::formats::onnx_writer
