#pragma once
// What kind of work an operator does: questions that several rooms ask.
#include "network/operators.h"

namespace millrace::network {

template <class... Kinds>
bool is_one_of(const Operator& op) {
  return (std::holds_alternative<Kinds>(op) || ...);
}

inline bool is_reshape(const Operator& op) { return is_one_of<Reshape>(op); }
inline bool is_binary(const Operator& op) { return is_one_of<Binary>(op); }
inline bool is_logical(BinaryKind kind) {
  return kind == BinaryKind::logical_and || kind == BinaryKind::logical_or ||
         kind == BinaryKind::logical_xor;
}
/// Whether it works on the bits of integers.
inline bool is_of_bits(BinaryKind kind) { return kind >= BinaryKind::bit_and; }
/// A convolution of real numbers, transposed or not.
inline bool is_convolution(const Operator& op) { return is_one_of<Conv, ConvTranspose>(op); }
/// The same, or a convolution of integers.
inline bool is_any_convolution(const Operator& op) {
  return is_convolution(op) || is_one_of<ConvInteger, QLinearConv>(op);
}
/// A product of matrices of real numbers.
inline bool is_product(const Operator& op) { return is_one_of<Gemm, MatMul>(op); }
inline bool multiplies(const Operator& op) { return is_convolution(op) || is_product(op); }
/// What layers after it are fused into; so are they into Binary where nothing of these is near.
inline bool leads_fusion(const Operator& op) {
  return multiplies(op) || is_one_of<BatchNormalization>(op);
}

}  // namespace millrace::network
