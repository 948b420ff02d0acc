#pragma once
// What operators on quantised tensors have in common: factors of integers, scales, zero points.
#include "formats/onnx/node/node.h"

namespace millrace::formats::onnx {

/// int8, uint8, int16 or uint16.
bool is_small_integer(DataType type);

/// Where a node has 8-bit values and their zero point, which may be left out.
struct Factor {
  std::size_t values = 0, zero = 0;
};
/// Fails unless both factors are 8-bit integers and zero points have their types.
void check_factors(const Node& node, const Factor& a, const Factor& b);

/// The same for QLinearConv and QLinearMatMul, whose result, too, has a scale and an 8-bit zero
/// point; scales must be float32.
void check_quantized(const Node& node);

/// Fails unless the input has one value, or is left out.
void check_single(const Node& node, std::size_t input);
/// The same, or one of these shapes.
void check_single_or(const Node& node, std::size_t input, const std::vector<Shape>& shapes);

}  // namespace millrace::formats::onnx
