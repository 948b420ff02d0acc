#pragma once
// What is done with each result of a kernel before it is stored.
#include <optional>
#include <vector>

#include "engine/cuda/builder.h"
#include "engine/fusion.h"

namespace millrace::engine::cuda {

/// Functions in their order, and the values that they take beside the result.
class Tail {
 public:
  /// For a result of this shape, which the kernel numbers along these dimensions: for each of the
  /// kernel's, one of the result's, or -1 for a dimension of size 1.
  Tail(Builder& builder, network::Shape result, std::vector<int> dimensions);

  void add(Function function, double alpha = 0, double beta = 0);
  /// The tensor spreads over the result.
  void add(Function function, TensorId operand, double alpha = 0);
  /// One number for each index of the result's second dimension.
  void add_by_channel(Function function, const Value& numbers);
  /// What is fused into a group. `from`: the first that is not done yet.
  void add(const Group& group, std::size_t from = 0);
  /// A layer that is a function of one input, or of two of which `of` is the result so far.
  void add_layer(LayerId layer, TensorId of);

  bool empty() const { return epilogue_.count == 0; }
  const std::vector<Value>& operands() const { return operands_; }
  /// With operands that lie nowhere yet.
  const Epilogue& epilogue() const { return epilogue_; }
  Epilogue placed(const Execution& execution) const { return placed(epilogue_, execution); }
  /// The same, of a copy whose dimensions were joined.
  Epilogue placed(Epilogue epilogue, const Execution& execution) const;

 private:
  void add(Function function, const Value& operand, Place place);

  Builder& builder_;
  network::Shape result_;
  std::vector<int> dimensions_;
  Epilogue epilogue_{};
  std::vector<Value> operands_;
};

/// Whether a kernel has room for so much. One more function and operand are kept for a bias.
bool fits_in_tail(const network::Network& network, const Group& group);

/// What NVIDIA's libraries can do with a result.
bool is_relu(const network::Network& network, const Fused& fused);

/// With the alpha and beta of the operator.
Function function_of(const network::Unary& op);
/// `reversed`: the result so far is the second operand.
Function function_of(const network::Binary& op, bool reversed);

}  // namespace millrace::engine::cuda
