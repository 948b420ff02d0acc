#pragma once
// The network as far as its file is read.
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "formats/network_names.h"
#include "network/simplify/folding.h"

namespace millrace::formats::onnx {

/// Type and shape of a tensor to make.
struct Made {
  DataType type = DataType::float32;
  Shape shape;
};

/// Collects tensors and layers. A layer whose inputs are known is computed at once, so that
/// values that later nodes need as shapes are at hand.
class PartialNetwork {
 public:
  explicit PartialNetwork(const network::FoldingBudget& budget) : budget_(budget) {}

  const Tensor& operator[](TensorId id) const { return network_[id]; }
  std::size_t layer_count() const { return network_.layers.size(); }
  /// What is left of it.
  const network::FoldingBudget& budget() const { return budget_; }

  TensorId add_input(Made made);
  TensorId add_constant(Array value);
  TensorId add_weight(Array value);  // a constant that the file brings
  /// A tensor of which nothing more is known.
  TensorId add_unknown(Made made);
  /// Adds the layer (and makes its name unique) or computes it. One tensor per entry of `outputs`;
  /// nothing there is an output nobody wants. Errors are at `place`.
  std::vector<TensorId> add_layer(Layer layer, const std::vector<std::optional<Made>>& outputs,
                                  const std::string& place);
  /// Makes the tensor an output: a copy of it, if it is an input or output of another name.
  void add_output(const std::string& name, TensorId id, const std::string& place);
  void set_name(TensorId id, std::string name) {
    network_.tensors[id.index].name = std::move(name);
  }
  /// Fails at `place` if the constants made so far and `more` take too much memory.
  void take_memory(Bytes more, const std::string& place);

  /// Names of the network's inputs that the tensor is computed from; some, if there are many, and
  /// none once looking for them has taken long.
  std::vector<std::string> inputs_behind(TensorId id);
  /// For messages: this input stands for a tensor that is computed from those of the network.
  void say_behind(TensorId input, std::vector<std::string> inputs) {
    behind_[input] = std::move(inputs);
  }

  /// The network; empty names of tensors are filled in.
  Network finish() &&;

 private:
  std::string unique_layer_name(const std::string& base);

  Network network_;
  network::FoldingBudget budget_;
  std::unordered_map<std::string, std::size_t> layer_names_;
  std::unordered_set<TensorId> inputs_and_outputs_;  // tensors that keep their names
  std::unordered_map<TensorId, std::vector<std::string>> behind_;
  std::size_t traced_ = 0;  // layers looked at by inputs_behind
};

}  // namespace millrace::formats::onnx
