#pragma once
// One function per ONNX operator: the node's defaults filled in, its output's shape worked out,
// and what it does said in the operators of network/operators.h.
#include "formats/onnx/node/node.h"

namespace millrace::formats::onnx {

/// Lowers the node by the function for `op_type`. InputError for an unknown operator, a number of
/// inputs or an attribute that the operator does not have, and all that the function refuses.
void lower(Node& node, std::string_view op_type);
/// Says that the operator is not supported, and why no engine runs it; empty: none was asked.
[[noreturn]] void refuse_operator(const Node& node, const std::string& op_type,
                                  const std::string& why);
/// Whether there is such a function.
bool is_supported(std::string_view op_type);

/// Two factors of bytes, each with a zero point, which may be left out.
struct ByteFactors {
  struct {
    TensorId values, zero;
  } a;
  struct {
    std::size_t values, zero;  // inputs
  } b;
};

// lower_window.cpp
/// The convolution of a node's first inputs, x, weights and a bias, so many at most.
TensorId convolved(Node& node, std::size_t inputs);
void lower_conv(Node& node);
void lower_conv_integer(Node& node);
void lower_q_linear_conv(Node& node);
void lower_max_pool(Node& node);
void lower_average_pool(Node& node);
void lower_global_max_pool(Node& node);
void lower_global_average_pool(Node& node);
// lower_conv_transpose.cpp
void lower_conv_transpose(Node& node);
void lower_col2im(Node& node);
// lower_matrix.cpp
TensorId multiplied(Node& node);  // as Gemm
TensorId multiplied_bytes(Node& node, const ByteFactors& factors);  // as MatMulInteger
void lower_gemm(Node& node);
void lower_mat_mul(Node& node);
void lower_mat_mul_integer(Node& node);
void lower_q_linear_mat_mul(Node& node);
// lower_normalization.cpp
void lower_batch_normalization(Node& node);
void lower_lrn(Node& node);
void lower_softmax(Node& node);
void lower_log_softmax(Node& node);
// lower_reduce.cpp
void lower_reduce_mean(Node& node);
void lower_reduce_min(Node& node);
void lower_reduce_max(Node& node);
void lower_reduce_sum(Node& node);
void lower_reduce_prod(Node& node);
void lower_reduce_l1(Node& node);
void lower_reduce_l2(Node& node);
void lower_reduce_log_sum(Node& node);
void lower_reduce_log_sum_exp(Node& node);
void lower_reduce_sum_square(Node& node);
void lower_arg_min(Node& node);
void lower_arg_max(Node& node);
// lower_unary.cpp
void lower_relu(Node& node);
void lower_leaky_relu(Node& node);
void lower_clip(Node& node);
void lower_sigmoid(Node& node);
void lower_hard_sigmoid(Node& node);
void lower_hard_swish(Node& node);
void lower_tanh(Node& node);
void lower_elu(Node& node);
void lower_softplus(Node& node);
void lower_mish(Node& node);
void lower_erf(Node& node);
void lower_exp(Node& node);
void lower_sqrt(Node& node);
void lower_round(Node& node);
void lower_cast(Node& node);
// lower_binary.cpp
void lower_add(Node& node);
void lower_sub(Node& node);
void lower_mul(Node& node);
void lower_div(Node& node);
void lower_pow(Node& node);
void lower_max(Node& node);
void lower_min(Node& node);
void lower_prelu(Node& node);
// lower_shape.cpp
void lower_reshape(Node& node);
void lower_flatten(Node& node);
void lower_squeeze(Node& node);
void lower_unsqueeze(Node& node);
void lower_transpose(Node& node);
void lower_depth_to_space(Node& node);
// lower_parts.cpp
void lower_concat(Node& node);
void lower_split(Node& node);
void lower_slice(Node& node);
void lower_gather(Node& node);
void lower_pad(Node& node);
// lower_resize.cpp
void lower_resize(Node& node);
void lower_upsample(Node& node);
// lower_quantize.cpp
void lower_quantize_linear(Node& node);
void lower_dequantize_linear(Node& node);
void lower_dynamic_quantize_linear(Node& node);
// lower_constant.cpp
void lower_constant(Node& node);
void lower_constant_of_shape(Node& node);
void lower_shape(Node& node);
void lower_identity(Node& node);
void lower_dropout(Node& node);

}  // namespace millrace::formats::onnx
