#pragma once
// One node of the file while it is lowered to layers.
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "formats/onnx/node/attributes.h"
#include "formats/onnx/reading.h"

namespace millrace::formats::onnx {

/// Borrows the reading, the file's node and the names that somebody reads. Whatever is wrong is an
/// InputError that names file and node.
class Node {
 public:
  using Names = std::unordered_set<std::string>;
  Node(Reading& reading, const ::onnx::NodeProto& proto, std::string name, const Names& needed);
  /// The same node in a copy of its reading.
  Node(const Node& node, Reading& copy);

  std::int64_t opset() const { return reading_->names.opset(); }
  const std::string& name() const { return name_; }
  Reading& reading() const { return *reading_; }
  const std::string& place() const { return place_; }
  const Attributes& attributes() const { return attributes_; }
  [[noreturn]] void fail(const std::string& text) const;

  bool has(std::size_t input) const { return input < inputs_.size() && inputs_[input].valid(); }
  TensorId input(std::size_t index) const;  // fails if it is left out
  std::vector<TensorId> inputs() const;     // all; fails if one is left out
  /// All; an invalid id where one is left out.
  const std::vector<TensorId>& optional_inputs() const { return inputs_; }
  const Tensor& tensor(std::size_t input) const;
  const Tensor& tensor(TensorId id) const { return reading_->network[id]; }
  const Shape& shape(std::size_t input) const { return tensor(input).shape; }
  DataType type(std::size_t input) const { return tensor(input).type; }
  std::int64_t rank(std::size_t input) const;

  std::size_t output_count() const;
  /// The name that the file gives the output; empty: it has none.
  std::string output(std::size_t index) const;
  /// Whether somebody reads the output: what nobody reads is no reason to refuse a node.
  bool wants(std::size_t output) const;
  /// The node's output is this tensor.
  void give(std::size_t output, TensorId id);
  void give(std::size_t output, const Known& value);

  /// Adds a layer with one output.
  TensorId add(Operator op, std::vector<TensorId> inputs, Made made);
  std::vector<TensorId> add(Operator op, std::vector<TensorId> inputs,
                            const std::vector<std::optional<Made>>& made);
  TensorId add_constant(Array value) { return reading_->network.add_constant(std::move(value)); }

 private:
  Reading* reading_;
  const ::onnx::NodeProto* proto_;
  const Names* needed_;
  std::string name_, place_;
  Attributes attributes_;
  std::vector<TensorId> inputs_;
};

/// Fails unless all inputs that are there have the type of the first.
void need_same_types(const Node& node);
/// -1 is the last dimension; fails outside [-rank, rank).
std::int64_t normalized(const Node& node, std::int64_t axis, std::int64_t rank);
/// Fails if the constants made so far and `size` take too much memory.
void take_memory(const Node& node, Bytes size);

// Inputs whose values must be known when the model is read.
bool is_known(const Node& node, std::size_t input);
/// The values of an input that must be known now; `what` says what it is: "the new shape".
Shape integers(const Node& node, std::size_t input, std::string_view what);
/// The only one.
std::int64_t integer(const Node& node, std::size_t input, std::string_view what);
std::vector<double> numbers(const Node& node, std::size_t input, std::string_view what);

/// From an input in opset `since` and later, from an attribute before; nothing if in neither.
std::optional<Shape> integers(const Node& node, std::string_view attribute, std::size_t input,
                              std::int64_t since);
/// Why a tensor is not known: "is computed from the network's input 'x'".
std::string computed_from(const Node& node, TensorId id);
/// ", or give the input its value with ⟨fix⟩ x=VALUE"; empty if no input is behind the tensor.
std::string or_fix(const Node& node, TensorId id);

}  // namespace millrace::formats::onnx
