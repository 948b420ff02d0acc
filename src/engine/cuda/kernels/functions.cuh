#pragma once
// Functions of real numbers, as network::evaluate defines them, and what follows a result.
#include "engine/cuda/kernels/numbers.cuh"

namespace millrace::engine::cuda {

inline __device__ float softplus(float x) { return x > 0 ? x + log1pf(expf(-x)) : log1pf(expf(x)); }
inline __device__ float unit(float x) { return x < 0 ? 0.0f : x > 1 ? 1.0f : x; }
inline __device__ float modulo(float a, float b) {
  const float rest = fmodf(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Comparisons are written so that what is not a number stays so: here, and in the next two.
inline __device__ float gate_of(const AppliedFunction& f, float x) {
  const float alpha = f.alpha, beta = f.beta;
  switch (f.function) {
    case function_gelu:
      return x / 2 * (1 + erff(x * 0.7071067811865476f));
    case function_gelu_tanh:
      return x / 2 * (1 + tanhf(0.7978845608028654f * (x + 0.044715f * x * x * x)));
    case function_celu:
      return x < 0 ? alpha * expm1f(x / alpha) : x;
    case function_selu:
      return beta * (x <= 0 ? alpha * expm1f(x) : x);
    case function_thresholded_relu:
      return x > alpha || is_nan(x) ? x : 0.0f;
    case function_softsign:
      return x / (1 + fabsf(x));
    case function_shrink:
      return x < -alpha ? x + beta : x > alpha ? x - beta : is_nan(x) ? x : 0.0f;
    default:  // function_swish
      return x / (1 + expf(-alpha * x));
  }
}

inline __device__ float function_of(const AppliedFunction& f, float x) {
  const float alpha = f.alpha, beta = f.beta;
  switch (f.function) {
    case function_relu:
      return x < 0 ? 0.0f : x;
    case function_leaky_relu:
      return x < 0 ? alpha * x : x;
    case function_clip: {
      const float raised = x < alpha ? alpha : x;
      return raised > beta ? beta : raised;
    }
    case function_sigmoid:
      return 1.0f / (1.0f + expf(-x));
    case function_hard_sigmoid:
      return unit(alpha * x + beta);
    case function_hard_swish:
      return x * unit(x / 6.0f + 0.5f);
    case function_tanh:
      return tanhf(x);
    case function_elu:
      return x < 0 ? alpha * expm1f(x) : x;
    case function_softplus:
      return softplus(x);
    case function_mish:
      return x * tanhf(softplus(x));
    case function_erf:
      return erff(x);
    case function_exp:
      return expf(x);
    case function_sqrt:
      return sqrtf(x);
    case function_round:
      return rintf(x);
    case function_neg:
      return -x;
    case function_abs:
      return fabsf(x);
    case function_sign:
      return x > 0 ? 1.0f : x < 0 ? -1.0f : x;
    case function_reciprocal:
      return 1.0f / x;
    case function_log:
      return logf(x);
    case function_floor:
      return floorf(x);
    case function_ceil:
      return ceilf(x);
    case function_logical_not:
      return x == 0 ? 1.0f : 0.0f;
    default:
      return alpha * x + beta;
  }
}

inline __device__ float trigonometric(int function, float x) {
  switch (function) {
    case function_sin:
      return sinf(x);
    case function_cos:
      return cosf(x);
    case function_tan:
      return tanf(x);
    case function_asin:
      return asinf(x);
    case function_acos:
      return acosf(x);
    case function_atan:
      return atanf(x);
    case function_sinh:
      return sinhf(x);
    case function_cosh:
      return coshf(x);
    case function_asinh:
      return asinhf(x);
    case function_acosh:
      return acoshf(x);
    default:
      return atanhf(x);
  }
}

inline __device__ float combined(const AppliedFunction& f, float a, float b) {
  switch (f.function) {
    case function_add:
      return a + b;
    case function_sub:
      return a - b;
    case function_mul:
      return a * b;
    case function_div:
      return a / b;
    case function_pow:
      return powf(a, b);
    case function_max:
      return a > b || is_nan(a) ? a : b;
    case function_min:
      return a < b || is_nan(a) ? a : b;
    case function_prelu:
      return a < 0 ? a * b : a;
    case function_mod:
      return modulo(a, b);
    case function_fmod:
      return fmodf(a, b);
    case function_logical_and:
      return a != 0 && b != 0 ? 1.0f : 0.0f;
    case function_logical_or:
      return a != 0 || b != 0 ? 1.0f : 0.0f;
    case function_logical_xor:
      return (a != 0) != (b != 0) ? 1.0f : 0.0f;
    case function_reversed_sub:
      return b - a;
    case function_reversed_div:
      return b / a;
    case function_reversed_pow:
      return powf(b, a);
    case function_reversed_prelu:
      return b < 0 ? a * b : b;
    case function_reversed_mod:
      return modulo(b, a);
    case function_reversed_fmod:
      return fmodf(b, a);
    default:
      return a + f.alpha * b;  // function_add_scaled
  }
}

inline __device__ float finished(const Epilogue& epilogue, float value, const Position& position,
                                 int dimensions) {
  for (int i = 0; i < epilogue.count; ++i) {
    const AppliedFunction& f = epilogue.functions[i];
    if (f.operand >= 0) {
      const Place& operand = epilogue.operands[f.operand];
      value = combined(f, value, load(operand, offset_in(operand, position, dimensions)));
    } else if (f.function >= function_sin && f.function <= function_atanh) {
      value = trigonometric(f.function, value);
    } else if (f.function >= function_gelu && f.function <= function_swish) {
      value = gate_of(f, value);
    } else {
      value = function_of(f, value);
    }
  }
  return value;
}

}  // namespace millrace::engine::cuda
