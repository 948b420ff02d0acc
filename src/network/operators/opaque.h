#pragma once
// Operators that are not Millrace's own: an engine has them.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "network/tensor.h"

namespace millrace::network {

struct ConstView;  // evaluate/evaluate.h
struct View;
struct Opaque;

/// The engine that has an operator. Thread-safe; shared by the layers of a network.
class OperatorOwner {
 public:
  virtual ~OperatorOwner() = default;
  virtual std::string name() const = 0;  // "onnxruntime"
  /// Computes a layer on the calling thread. EngineError with the engine's reason.
  virtual void run(const Opaque& op, std::span<const ConstView> in,
                   std::span<const View> out) const = 0;
};

/// A node of an ONNX graph for which there are no loops. The reader asked its owner for the
/// outputs' types and shapes.
struct Opaque {
  std::string name;                          // "com.microsoft.GroupQueryAttention"
  std::shared_ptr<const std::string> model;  // ONNX's bytes of the node, shared by copies
  std::vector<std::string> inputs, outputs;  // their names in the model
  std::vector<DataType> types, made;  // of inputs and outputs in the model; not made: not known yet
  std::vector<bool> constant;  // by input: its value is the network's, and was known to the owner
  std::vector<bool> varies;    // by output: its size depends on values, so the largest is taken
  bool is_random = false;      // gives other values for each frame
  std::shared_ptr<const OperatorOwner> owner = {};
};

}  // namespace millrace::network
