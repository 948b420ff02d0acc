#pragma once
// The ONNX graph while it is written: names, constants and the opset.
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "formats/network_names.h"
#include "formats/onnx_writer/write_onnx.h"

namespace onnx {
class GraphProto;
class ModelProto;
class NodeProto;
class ValueInfoProto;
}  // namespace onnx

namespace millrace::formats::onnx_writer {

/// Which nodes may be written, and how.
struct Form {
  std::int64_t opset = 13;
  bool weights_inside = true;
  std::string weights_file = {};
  bool quantized_in_pairs = false;
  bool outputs_unknown = false;
  bool numbered = false;
  bool values = true;  // false: constants are left out, as only the nodes matter
};

/// Borrows the network. Every tensor that is asked for has a name of its own.
class Graph {
 public:
  Graph(const Network& network, Form form);
  ~Graph();

  const Network& network() const { return network_; }
  const Form& form() const { return form_; }
  /// The graph has a node that exists since this opset.
  void need_opset(std::int64_t version);
  std::int64_t needed_opset() const { return needed_opset_; }

  /// The graph has a node of operators other than ONNX's own.
  void need_domain(const std::string& domain, std::int64_t version);

  /// What the graph calls the tensor; a constant becomes an initializer when it is first asked for.
  std::string name_of(TensorId tensor);
  /// A name that nothing has yet.
  std::string unique_name(const std::string& base);
  /// Appends a node; `name` is a wish.
  ::onnx::NodeProto& add_node(const std::string& type, const std::string& name);
  std::size_t node_count() const;
  /// The nodes that follow are of this layer, by its place in the part.
  void begin_layer(std::size_t place) { layer_ = place; }
  /// A constant that is always inside.
  std::string add_constant(const Array& value, const std::string& base);

  std::string add_input(TensorId tensor);
  /// A copy of the tensor, if it is an input, a constant or an output already.
  std::string add_output(TensorId tensor);
  /// Says type and shape of a tensor between nodes.
  void describe(TensorId tensor);

  /// The model is finished.
  std::string serialized();
  const std::vector<OnnxModel::Weight>& weights() const { return weights_; }

 private:
  ::onnx::GraphProto& graph();
  void add_initializer(TensorId tensor, const std::string& name);
  void add_quantized(const Tensor& tensor, const std::string& name);
  void say_type(::onnx::ValueInfoProto& info, TensorId tensor, const std::string& name) const;

  const Network& network_;
  Form form_;
  std::size_t layer_ = 0;
  std::int64_t needed_opset_ = 0;
  std::int64_t weights_size_ = 0;  // of the file beside the model
  std::unique_ptr<::onnx::ModelProto> model_;
  std::unordered_map<std::size_t, std::string> names_;  // by tensor
  std::unordered_set<std::string> taken_, node_names_;
  std::unordered_set<std::size_t> borders_;  // tensors that are inputs or outputs of the graph
  std::vector<OnnxModel::Weight> weights_;
};

}  // namespace millrace::formats::onnx_writer
