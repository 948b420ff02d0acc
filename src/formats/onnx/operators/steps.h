#pragma once
// Layers for operators that are made of several: each step knows the shape of its result.
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/onnx/node/node.h"

namespace millrace::formats::onnx {

/// Borrows the node. What does not fit is an InputError that names it.
class Steps {
 public:
  explicit Steps(Node& node) : node_(node) {}

  const Shape& shape(TensorId id) const { return node_.tensor(id).shape; }
  DataType type(TensorId id) const { return node_.tensor(id).type; }

  TensorId reshaped(TensorId id, const Shape& to);
  TensorId transposed(TensorId id, const Shape& order);
  TensorId product(TensorId a, TensorId b);  // MatMul
  TensorId combined(BinaryKind kind, TensorId a, TensorId b);
  TensorId sum(TensorId a, TensorId b) { return combined(BinaryKind::add, a, b); }
  TensorId scaled(TensorId id, double factor);  // by a factor of 1 it stays
  TensorId function(const Unary& op, TensorId id);
  TensorId softmax(TensorId id);  // over the last dimension
  TensorId part(TensorId id, std::size_t axis, std::int64_t first, std::int64_t count);
  TensorId joined(const std::vector<TensorId>& parts, std::size_t axis);
  TensorId gathered(TensorId table, TensorId indices);  // along the first dimension
  TensorId chosen(TensorId condition, TensorId if_true, TensorId otherwise);
  TensorId holds(CompareKind kind, TensorId a, TensorId b);
  TensorId as(TensorId id, DataType type);
  /// A scalar of that type.
  TensorId number(double value, DataType type);
  TensorId numbers(const Shape& shape, const std::vector<float>& values, DataType type);
  TensorId integers(const Shape& shape, const std::vector<std::int64_t>& values, DataType type);

 private:
  Shape common(TensorId a, TensorId b) const;

  Node& node_;
};

}  // namespace millrace::formats::onnx
