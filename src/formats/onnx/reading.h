#pragma once
// What is known of a model while its file is read.
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "formats/foreign_operators.h"
#include "formats/onnx/external_data.h"
#include "formats/onnx/graph/made_inside.h"
#include "formats/onnx/graph/problems.h"
#include "formats/onnx/graph/scopes.h"
#include "formats/onnx/partial_network.h"

namespace millrace::formats::onnx {

/// Where the model comes from.
struct Source {
  std::string file;              // for messages
  std::filesystem::path folder;  // of external data
  std::int64_t opset = 0;
  bool is_of_pytorch = false;  // written by its exporter
  std::map<std::string, std::int64_t> domains = {};  // versions of operators other than ONNX's own
  std::shared_ptr<const ForeignOperators> foreign = {};  // shared by readings; null: nobody
  bool asks_for_all = false;  // also for nodes that are known but refused
};

/// What the model is read for.
enum class Purpose {
  network,
  /// Sizes that depend on values are the largest possible ones, and a tensor of them may be read.
  largest_sizes,
  /// The values of one frame: whatever can be computed is, however long it takes.
  values,
};

/// Functions of the model, borrowed from it, by their key: see graph/functions.h.
using Functions = std::unordered_map<std::string, const ::onnx::FunctionProto*>;

/// Each part has its own rules; what concerns several is a function.
struct Reading {
  Reading(Source from, Functions all, Purpose why = Purpose::network);

  /// From now on the file's `name` means the tensor, which is called so if it has no name yet.
  void define(const std::string& name, TensorId id);
  void define(const std::string& name, const Known& value);
  /// The name means this tensor instead of a problem.
  void replace(const std::string& name, TensorId id);
  /// The shape that the file says the tensor `name` has; null: it says none.
  const Shape* declared_shape(const std::string& name) const;

  Source source;
  Functions functions;
  Purpose purpose;
  ExternalFiles files;
  PartialNetwork network;
  Scopes names;
  InsideCounter inside;
  Problems problems;
  std::unordered_map<std::string, Shape> declared;  // of the outermost graph
  /// Tensors with rows that are not in use: nobody but the network's user can read them.
  std::unordered_set<TensorId> of_varying_length;
  /// Integers of 4 bits in 8, whose range only DequantizeLinear need not know.
  std::unordered_set<TensorId> of_four_bits;
};

}  // namespace millrace::formats::onnx
