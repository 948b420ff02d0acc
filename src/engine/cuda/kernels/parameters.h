#pragma once
// What kernels are told. The compiler of the host and that of the GPU read this file, so that it
// includes nothing. All sizes and distances are in elements; tensors have fewer than 2^31.
namespace millrace::engine::cuda {

constexpr int max_dimensions = 8;
constexpr int max_functions = 8;
constexpr int max_operands = 4;
constexpr int threads_per_block = 128;

/// Type of a tensor's elements.
enum Element : int {
  element_float32,
  element_float16,
  element_float64,
  element_int8,
  element_uint8,
  element_int16,
  element_uint16,
  element_int32,
  element_uint32,
  element_int64,
  element_uint64,
  element_boolean
};

/// A tensor, or the part of one, along the dimensions of the work.
struct Place {
  void* data;
  int element;  // Element
  int strides[max_dimensions];
};

/// What is done with a number: network::UnaryKind and BinaryKind, which say what alpha and beta
/// are.
enum Function : int {
  function_relu,
  function_leaky_relu,
  function_clip,
  function_sigmoid,
  function_hard_sigmoid,
  function_hard_swish,
  function_tanh,
  function_elu,
  function_softplus,
  function_mish,
  function_erf,
  function_exp,
  function_sqrt,
  function_round,
  function_neg,
  function_abs,
  function_sign,
  function_reciprocal,
  function_log,
  function_sin,
  function_cos,
  function_tan,
  function_asin,
  function_acos,
  function_atan,
  function_sinh,
  function_cosh,
  function_asinh,
  function_acosh,
  function_atanh,
  function_floor,
  function_ceil,
  function_gelu,
  function_gelu_tanh,
  function_celu,
  function_selu,
  function_thresholded_relu,
  function_softsign,
  function_shrink,
  function_swish,
  function_logical_not,
  // With an operand. Reversed: the operand is the first of the two.
  function_add,
  function_sub,
  function_mul,
  function_div,
  function_pow,
  function_max,
  function_min,
  function_prelu,
  function_mod,
  function_fmod,
  function_logical_and,
  function_logical_or,
  function_logical_xor,
  function_reversed_sub,
  function_reversed_div,
  function_reversed_pow,
  function_reversed_prelu,
  function_reversed_mod,
  function_reversed_fmod,
  function_add_scaled,  // the operand times alpha
  function_scale        // times alpha, plus beta
};

struct AppliedFunction {
  int function;  // Function
  int operand;   // in Epilogue::operands; -1: none
  float alpha, beta;
};

/// What is done with each result before it is stored, one function after the other.
struct Epilogue {
  int count;
  AppliedFunction functions[max_functions];
  Place operands[max_operands];  // along the dimensions of the result
};

/// out[i] = epilogue(in[i]).
struct ElementWork {
  int dimensions;
  int shape[max_dimensions];
  unsigned count;  // of elements
  Place in, out;
  Epilogue epilogue;
};

}  // namespace millrace::engine::cuda
