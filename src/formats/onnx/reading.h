#pragma once
// The network while its file is read: which tensor each name of the file stands for.
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "formats/network_names.h"
#include "formats/onnx/external_data.h"
#include "formats/onnx/graph/made_inside.h"
#include "formats/onnx/graph/problems.h"
#include "network/simplify/folding.h"

namespace onnx {
class FunctionProto;
}

namespace millrace::formats::onnx {

/// Type and shape of a tensor to make.
struct Made {
  DataType type = DataType::float32;
  Shape shape;
};

/// Where the model comes from.
struct Source {
  std::string file;              // for messages
  std::filesystem::path folder;  // of external data
  std::int64_t opset = 0;
  bool is_of_pytorch = false;  // written by its exporter
};

/// What a name stands for: a tensor, or a problem that left it without one, or nothing at all (an
/// optional input that was left out).
struct Known {
  std::optional<TensorId> id;
  std::optional<std::size_t> problem;
};

/// A graph inside of a node, or a function.
struct Inner {
  std::string prefix;                 // of the names of its layers and tensors
  std::string place;                  // for messages
  std::optional<std::int64_t> opset;  // a function's: it sees no names from outside
  const ::onnx::FunctionProto* function = nullptr;
};

/// Collects tensors and layers. A layer whose inputs are known is computed at once, so that
/// values that later nodes need as shapes are at hand.
class Reading {
 public:
  explicit Reading(Source source)
      : source_(std::move(source)),
        files_(source_.folder),
        scopes_{{{}, source_.opset, true, nullptr, {}}} {}

  const Source& source() const { return source_; }
  std::int64_t opset() const { return scopes_.back().opset; }
  /// Of names in the graph that is read now.
  const std::string& prefix() const { return scopes_.back().prefix; }
  bool is_inside() const { return scopes_.size() > 1; }
  /// Whether what is read now is part of a call of the function.
  bool is_inside(const ::onnx::FunctionProto& function) const;
  Problems& problems() { return problems_; }
  const Problems& problems() const { return problems_; }
  /// Functions of the model, borrowed from it, by their key: see graph/functions.h.
  using Functions = std::unordered_map<std::string, const ::onnx::FunctionProto*>;
  const Functions& functions() const { return functions_; }
  void set_functions(Functions all);
  /// InputError if loops and functions make too many nodes, which read too many values.
  void count_node(std::size_t values_read);
  void count_layer() { ++inside_.layers; }  // that joins what they made
  /// TooMuchInside at `place` if they have made too many layers, which engines need memory and
  /// searches time for. `by`: who made the last ones.
  void check_layers_inside(const std::string& place, const std::string& by) const;
  const MadeInside& made_inside() const { return inside_; }
  /// TooMuchInside if what was made since `before` is too much once it is made `times` more. A
  /// reading that counts repeats goes on as if it had been made.
  void foresee(const MadeInside& before, std::size_t times, const std::string& place,
               const std::string& by);
  /// From now on rounds of loops that repeat the one before are only counted, not read.
  void count_repeats() { counts_repeats_ = true; }
  bool counts_repeats() const { return counts_repeats_; }
  bool has_limits() const { return has_limits_ && !takes_largest_sizes_; }  // as files have
  /// InputError if the names inside of them take too many bytes, prefixes included.
  void count_name(std::size_t bytes);
  /// The same, at `place`, for copies of what functions get as attributes.
  void count_copied(std::size_t bytes, const std::string& place);
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
  void define(const std::string& name, const Known& value);
  void define_problem(const std::string& name, std::size_t problem);
  void define_nothing(const std::string& name);
  std::optional<TensorId> find(const std::string& name) const { return known(name).id; }
  std::optional<std::size_t> problem_of(const std::string& name) const {
    return known(name).problem;
  }
  Known known(const std::string& name) const;
  /// Whether the name means anything, in this graph or in one around it.
  bool knows(const std::string& name) const { return lookup(name) != nullptr; }
  bool is_own(const std::string& name) const { return scopes_.back().values.contains(name); }
  /// Names of the network's inputs that the tensor is computed from; some, if there are many, and
  /// none once looking for them has taken long.
  std::vector<std::string> inputs_behind(TensorId id);
  /// The shape that the file says the tensor `name` has, and what it said; null: nothing.
  void declare(const std::string& name, Shape shape) { declared_[name] = std::move(shape); }
  const Shape* declared(const std::string& name) const;
  /// Makes the tensor that `name` means an output of the network: a copy of it, if it is an input
  /// or output of another name.
  void add_output(const std::string& name, TensorId id);
  /// A tensor with rows that are not in use: nobody but the network's user can read it.
  void mark_of_varying_length(TensorId id) { varying_.insert(id.index); }
  bool has_varying_length(TensorId id) const { return varying_.contains(id.index); }
  /// Integers of 4 bits in 8, whose range only DequantizeLinear need not know.
  void mark_of_four_bits(TensorId id) { four_bits_.insert(id.index); }
  bool has_four_bits(TensorId id) const { return four_bits_.contains(id.index); }
  /// From now on sizes that depend on values are the largest possible ones, and a tensor of them
  /// may be read: what is read serves only to know the largest sizes of the outputs.
  void take_largest_sizes() { takes_largest_sizes_ = true; }
  bool takes_largest_sizes() const { return takes_largest_sizes_; }
  /// For messages: this input stands for a tensor that is computed from those of the network.
  void say_behind(TensorId input, std::vector<std::string> inputs) {
    behind_[input.index] = std::move(inputs);
  }
  /// A tensor of which nothing more is known; only with take_largest_sizes.
  TensorId add_unknown(Made made) { return add_tensor(std::move(made)); }
  /// Whatever can be computed is, however long it takes: the values are a frame's.
  void lift_limits();
  /// What is left of it.
  const network::FoldingBudget& budget() const { return budget_; }
  /// The name means this tensor instead of a problem.
  void replace(const std::string& name, TensorId id);
  /// The network; empty names of tensors are filled in.
  Network finish() &&;

 private:
  friend class Scope;
  struct Names {
    std::string prefix;
    std::int64_t opset = 0;
    bool sees_outer = true;
    const ::onnx::FunctionProto* function = nullptr;
    std::unordered_map<std::string, Known> values;
  };
  void enter(const Inner& inner);
  void leave() { scopes_.pop_back(); }
  const Known* lookup(const std::string& name) const;
  std::string unique_layer_name(const std::string& base);
  TensorId add_tensor(Made made);

  Source source_;
  ExternalFiles files_;
  Network network_;
  std::vector<Names> scopes_;  // from the outermost graph to the one that is read now
  Problems problems_;
  Functions functions_;
  void check_nodes_inside() const;
  void check_names_inside() const;
  MadeInside inside_;
  std::size_t most_layers_inside_ = 0;
  std::unordered_map<std::string, Shape> declared_;
  std::unordered_map<std::string, std::size_t> layer_names_;
  std::unordered_set<std::size_t> inputs_and_outputs_;  // tensors that keep their names
  std::unordered_set<std::size_t> varying_, four_bits_;
  std::size_t traced_ = 0;  // layers looked at by inputs_behind
  network::FoldingBudget budget_;
  bool takes_largest_sizes_ = false, counts_repeats_ = false, has_limits_ = true;
  std::unordered_map<std::size_t, std::vector<std::string>> behind_;
};

/// While it lives, names are those of a graph inside of a node. InputError if too many of them lie
/// inside each other.
class Scope {
 public:
  Scope(Reading& reading, const Inner& inner) : reading_(reading) { reading.enter(inner); }
  ~Scope() { reading_.leave(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Reading& reading_;
};

}  // namespace millrace::formats::onnx
