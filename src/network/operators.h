#pragma once
// What layers compute. ONNX's operators of all opsets are lowered to these by the importer:
// defaults filled in, automatic padding resolved, shape arithmetic folded away. Semantics are
// ONNX's; the plain loops in evaluate/ define them exactly.
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "network/operators/comparison.h"
#include "network/operators/indexing.h"
#include "network/operators/opaque.h"
#include "network/operators/sequence.h"
#include "network/operators/varying.h"
#include "network/tensor.h"

namespace millrace::network {

/// The geometry of a window that slides over the 1 to 3 spatial dimensions of an N,C,... tensor.
struct Window {
  Shape kernel, strides, dilations, pads_begin, pads_end;  // one entry per spatial dimension
  bool operator==(const Window&) const = default;
};

/// Inputs X [N,C,...], W [M,C/groups,...], optional B [M]. Output [N,M,...].
struct Conv {
  Window window;
  std::int64_t groups = 1;
};
/// Inputs X [N,C,...], W [C,M/groups,...], optional B [M]. `output_pads` are already in the
/// output's shape; pads may be negative where ONNX's output_shape asks for it.
struct ConvTranspose {
  Window window;
  std::int64_t groups = 1;
};
/// alpha * op(A) * op(B) + beta * C, C optional and broadcast to the result.
struct Gemm {
  bool transpose_a = false, transpose_b = false;
  float alpha = 1, beta = 1;
};
/// NumPy's matmul, batch dimensions broadcast.
struct MatMul {};
/// Inputs X, scale, bias, mean, variance, all but X [C]:
/// scale * (X - mean) / sqrt(variance + epsilon) + bias.
struct BatchNormalization {
  float epsilon = 1e-5f;
};
/// Over the dimensions from `axis` on. Inputs X, optional scale and bias, which spread over X:
/// scale * (X - mean) / sqrt(variance + epsilon) + bias. Not centred (RMS): the mean counts as 0.
/// Optional outputs: the mean, and one over the square root.
struct Normalization {
  std::int64_t axis = -1;
  float epsilon = 1e-5f;
  bool centred = true;
};
/// Local response normalisation across channels.
struct Lrn {
  std::int64_t size = 1;
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
};
enum class PoolKind { max, average };
/// Global pools have the whole input as kernel. Max pools may have a second output, the int64
/// flat indices of the maxima. Windows that begin beyond the padded input do not exist: the
/// output's shape says how many there are (ceil_mode is resolved into it).
struct Pool {
  PoolKind kind = PoolKind::max;
  Window window;
  bool count_include_pad = false;  // average: padding counts in the divisor
  bool column_major_indices = false;
};
enum class UnaryKind { relu, leaky_relu, clip, sigmoid, hard_sigmoid, hard_swish, tanh, elu,
                       softplus, mish, erf, exp, sqrt, round, neg, abs, sign, reciprocal, log, sin,
                       cos, tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh, floor, ceil,
                       gelu, gelu_tanh, celu, selu, thresholded_relu, softsign, shrink, swish,
                       logical_not };
/// Element by element. alpha and beta: leaky_relu slope alpha; clip to [alpha, beta];
/// hard_sigmoid max(0, min(1, alpha x + beta)); elu and celu alpha. mish: x tanh(softplus(x)).
/// round: halves to the even number. gelu_tanh: the usual approximation. selu: alpha, and the
/// factor beta. thresholded_relu: x above alpha. shrink: by beta outside [-alpha, alpha]. swish:
/// x sigmoid(alpha x). logical_not: of booleans.
struct Unary {
  UnaryKind kind = UnaryKind::relu;
  double alpha = 0, beta = 0;
};
enum class BinaryKind { add, sub, mul, div, pow, max, min, prelu, mod, fmod, logical_and,
                        logical_or, logical_xor, bit_and, bit_or, bit_xor, shift_left,
                        shift_right };
/// Two inputs with multidirectional broadcasting. prelu: X and slope. mod: with the divisor's sign;
/// fmod: the dividend's. logical: of booleans. bit: of integers. shift: of unsigned ones.
struct Binary {
  BinaryKind kind = BinaryKind::add;
};
struct Concat {
  std::int64_t axis = 0;
};
/// Outputs are consecutive parts of the input along the axis, their sizes in their shapes.
struct Split {
  std::int64_t axis = 0;
};
/// output[i] = input[start + i * step] per dimension; one entry for every dimension of the input.
struct Slice {
  Shape starts, steps;
};
/// Inputs data, indices (int32 or int64; may be negative).
struct Gather {
  std::int64_t axis = 0;
};
/// The input repeated along every dimension, as often as the output's shape says.
struct Tile {};
/// Same elements, other shape: Reshape, Flatten, Squeeze, Unsqueeze. Second inputs are folded.
struct Reshape {};
struct Transpose {
  Shape permutation;  // output dimension i is input dimension permutation[i]
};
enum class PadMode { constant, reflect, edge, wrap };
/// Negative amounts crop. One entry per dimension.
struct Pad {
  PadMode mode = PadMode::constant;
  Shape begin, end;
  double value = 0;
};
enum class ResizeMode { nearest, linear, cubic };
enum class Coordinates { half_pixel, pytorch_half_pixel, align_corners, asymmetric,
                         tf_half_pixel_for_nn, tf_crop_and_resize, half_pixel_symmetric };
enum class NearestMode { round_prefer_floor, round_prefer_ceil, floor, ceil };
/// Resize and Upsample. One scale per dimension; roi (starts, then ends) for tf_crop_and_resize.
struct Resize {
  ResizeMode mode = ResizeMode::nearest;
  Coordinates coordinates = Coordinates::half_pixel;
  NearestMode nearest = NearestMode::round_prefer_floor;
  std::vector<double> scales, roi;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;  // linear and cubic: made smaller, the kernel is as much wider
  double extrapolation = 0;
};
/// Over the dimensions [axis, end): one for opset 13 and later, all following ones before.
struct Softmax {
  std::int64_t axis = -1, end = 0;
  bool log = false;
};
enum class ReduceKind { mean, min, max, sum, prod, l1, l2, log_sum, log_sum_exp, sum_square };
struct Reduce {
  ReduceKind kind = ReduceKind::mean;
  Shape axes;  // normalised, ascending; whether they are kept is in the output's shape
};
/// To the output's type.
struct Cast {};
/// depth_column_row (DCR) or column_row_depth (CRD).
struct DepthToSpace {
  std::int64_t block = 1;
  bool column_row_depth = false;
};
/// int64 index of the largest value, or of the smallest.
struct ArgMax {
  std::int64_t axis = 0;
  bool select_last = false;
  bool smallest = false;
};
/// Inputs X, scale, optional zero point. To the output's type: X / scale rounded, halves to the
/// even number, plus the zero point, clamped to the type's range.
struct QuantizeLinear {
  Scaling scaling;
};
/// Inputs X, scale, optional zero point: (X - zero point) * scale.
struct DequantizeLinear {
  Scaling scaling;
};
/// Outputs the uint8 values, their scale and zero point, so that the values' range and 0 just fit.
struct DynamicQuantizeLinear {};
/// Products of 8-bit integers, as int32. Inputs X, W, zero point of X, zero point of W; the latter
/// two are optional and subtracted first. W's may be one for every filter.
struct ConvInteger {
  Window window;
  std::int64_t groups = 1;
};
/// The same for matrices A and B. Zero points may be one for every row of A (of shape [M], or A's
/// with one column) and one for every column of B ([N], or B's with one row).
struct MatMulInteger {};
/// Products between quantised tensors. X, W and Y are each followed by scale and zero point, spread
/// as above, and by an optional int32 bias. It and the sum have steps of X's scale times W's.
struct QLinearConv {
  Window window;
  std::int64_t groups = 1;
};
struct QLinearMatMul {};

using Operator =
    std::variant<Conv, ConvTranspose, Gemm, MatMul, BatchNormalization, Lrn, Pool, Unary, Binary,
                 Concat, Split, Slice, Gather, Reshape, Transpose, Pad, Resize, Softmax, Reduce,
                 Cast, DepthToSpace, ArgMax, QuantizeLinear, DequantizeLinear,
                 DynamicQuantizeLinear, ConvInteger, MatMulInteger, QLinearConv, QLinearMatMul,
                 Normalization, Compare, Test, Where, Tile, GatherElements, GatherNd,
                 ScatterElements, ScatterNd, TopK, OneHot, GridSample, NonMaxSuppression, RoiAlign,
                 CumSum, Recurrent, VaryingPart, Opaque>;

/// "Conv", "MaxPool", "Relu", "Add", ...: the ONNX name.
std::string_view name_of(const Operator& op);

}  // namespace millrace::network
