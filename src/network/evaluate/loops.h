#pragma once
// One overload per operator. Shapes and types are as can_evaluate() allows; arithmetic in
// float16 does not come here, evaluate() widens it to float32.
#include <span>

#include "network/evaluate/evaluate.h"
#include "network/operators.h"

namespace millrace::network::loops {

using Inputs = std::span<const ConstView>;
using Outputs = std::span<const View>;

/// Also of 32- and 64-bit integers, modulo their range.
void run(const Conv& op, Inputs in, Outputs out);
void run(const ConvTranspose& op, Inputs in, Outputs out);
void run(const Gemm& op, Inputs in, Outputs out);
void run(const MatMul& op, Inputs in, Outputs out);
void run(const BatchNormalization& op, Inputs in, Outputs out);
void run(const Lrn& op, Inputs in, Outputs out);
void run(const Pool& op, Inputs in, Outputs out);
void run(const Unary& op, Inputs in, Outputs out);
void run(const Binary& op, Inputs in, Outputs out);
void run(const Concat& op, Inputs in, Outputs out);
void run(const Split& op, Inputs in, Outputs out);
void run(const Slice& op, Inputs in, Outputs out);
/// Indices are within the bounds.
void run(const Gather& op, Inputs in, Outputs out);
void run(const Reshape& op, Inputs in, Outputs out);
void run(const Transpose& op, Inputs in, Outputs out);
void run(const Pad& op, Inputs in, Outputs out);
void run(const Resize& op, Inputs in, Outputs out);
void run(const Softmax& op, Inputs in, Outputs out);
void run(const Reduce& op, Inputs in, Outputs out);
void run(const Cast& op, Inputs in, Outputs out);
void run(const DepthToSpace& op, Inputs in, Outputs out);
void run(const ArgMax& op, Inputs in, Outputs out);
void run(const QuantizeLinear& op, Inputs in, Outputs out);
void run(const DequantizeLinear& op, Inputs in, Outputs out);
void run(const DynamicQuantizeLinear& op, Inputs in, Outputs out);
void run(const ConvInteger& op, Inputs in, Outputs out);
void run(const MatMulInteger& op, Inputs in, Outputs out);
void run(const QLinearConv& op, Inputs in, Outputs out);
void run(const QLinearMatMul& op, Inputs in, Outputs out);
void run(const Normalization& op, Inputs in, Outputs out);
void run(const Compare& op, Inputs in, Outputs out);
void run(const Test& op, Inputs in, Outputs out);
void run(const Where& op, Inputs in, Outputs out);
void run(const Tile& op, Inputs in, Outputs out);
void run(const CumSum& op, Inputs in, Outputs out);
void run(const Recurrent& op, Inputs in, Outputs out);
/// InputError where a frame needs more room than the outputs have.
void run(const VaryingPart& op, Inputs in, Outputs out);
/// By the engine that has it: EngineError with its reason.
void run(const Opaque& op, Inputs in, Outputs out);
/// InputError for an index outside of the bounds, from here on.
void run(const GatherElements& op, Inputs in, Outputs out);
void run(const GatherNd& op, Inputs in, Outputs out);
void run(const ScatterElements& op, Inputs in, Outputs out);
void run(const ScatterNd& op, Inputs in, Outputs out);
void run(const RoiAlign& op, Inputs in, Outputs out);
/// Indices outside of the bounds give rows of the off value.
void run(const OneHot& op, Inputs in, Outputs out);
void run(const TopK& op, Inputs in, Outputs out);
void run(const GridSample& op, Inputs in, Outputs out);
void run(const NonMaxSuppression& op, Inputs in, Outputs out);

/// An optional input; not present() if it was left out.
inline ConstView optional_input(Inputs in, std::size_t index) {
  return index < in.size() ? in[index] : ConstView{};
}

/// The number of elements in dimensions [from, to).
inline std::int64_t count(std::span<const std::int64_t> shape, std::size_t from, std::size_t to) {
  std::int64_t product = 1;
  for (std::size_t i = from; i < to; ++i) product *= shape[i];
  return product;
}
inline std::int64_t count(std::span<const std::int64_t> shape) {
  return count(shape, 0, shape.size());
}

/// The dimensions before, of, and behind an axis: every operator along an axis is three loops.
struct AroundAxis {
  std::int64_t outer = 1, size = 1, inner = 1;
};
inline AroundAxis around(std::span<const std::int64_t> shape, std::int64_t axis) {
  const auto at = static_cast<std::size_t>(axis);
  return {count(shape, 0, at), shape[at], count(shape, at + 1, shape.size())};
}

}  // namespace millrace::network::loops
