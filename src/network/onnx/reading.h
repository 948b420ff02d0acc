#pragma once
// The network while its file is read: which tensor each name of the file stands for.
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "network/folding.h"
#include "network/network.h"
#include "network/onnx/external_data.h"

namespace millrace::network::onnx {

/// Type and shape of a tensor to make.
struct Made {
  DataType type = DataType::float32;
  Shape shape;
};

/// Where the model comes from.
struct Source {
  std::string file;               // for messages
  std::filesystem::path folder;   // of external data
  std::int64_t opset = 0;
};

/// Collects tensors and layers. A layer whose inputs are known is computed at once, so that
/// values that later nodes need as shapes are at hand.
class Reading {
 public:
  explicit Reading(Source source) : source_(std::move(source)), files_(source_.folder) {}

  const Source& source() const { return source_; }
  const Network& network() const { return network_; }
  ExternalFiles& external_files() { return files_; }

  TensorId add_input(const std::string& name, Made made);
  TensorId add_constant(Array value);
  TensorId add_weight(Array value);  // a constant that the file brings
  /// Adds the layer (and makes its name unique) or computes it. One tensor per entry of `outputs`;
  /// nothing there is an output nobody wants. Errors are at `place`.
  std::vector<TensorId> add_layer(Layer layer, const std::vector<std::optional<Made>>& outputs,
                                  const std::string& place);
  /// Fails at `place` if the constants made so far and `more` take too much memory.
  void take_memory(Bytes more, const std::string& place);

  /// From now on the file's `name` means the tensor, which is called so if it has no name yet.
  void define(const std::string& name, TensorId id);
  std::optional<TensorId> find(const std::string& name) const;
  /// The shape that the file says the tensor `name` has, and what it said; null: nothing.
  void declare(const std::string& name, Shape shape) { declared_[name] = std::move(shape); }
  const Shape* declared(const std::string& name) const;
  /// Makes the tensor that `name` means an output of the network: a copy of it, if it is an input
  /// or output of another name.
  void add_output(const std::string& name, TensorId id);
  /// The network; empty names of tensors are filled in.
  Network finish() &&;

 private:
  std::string unique_layer_name(const std::string& base);
  TensorId add_tensor(Made made);

  Source source_;
  ExternalFiles files_;
  Network network_;
  std::unordered_map<std::string, TensorId> values_;
  std::unordered_map<std::string, Shape> declared_;
  std::unordered_map<std::string, std::size_t> layer_names_;
  std::unordered_set<std::size_t> inputs_and_outputs_;  // tensors that keep their names
  FoldingBudget budget_;
};

}  // namespace millrace::network::onnx
