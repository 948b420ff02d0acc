#pragma once
// Functions of single numbers that oneDNN has none of, or none that is exact or fast enough.
#include <cstddef>
#include <span>

namespace millrace::kernels {

enum class Function {
  erf,
  floor,
  ceil,
  sin,
  cos,
  exp,
  log,
  softplus,
  sigmoid,
  tanh,
  swish,
  mish,
  celu,
  selu,
  sign,
  reciprocal,
  softsign,
  shrink,
  thresholded_relu,
  clip,
  hard_sigmoid,
  hard_swish,
  gelu,
  gelu_tanh,
  elu,
  leaky_relu,
  abs,
  neg
};

/// alpha and beta: celu has alpha > 0; selu is beta * alpha * (exp(x) - 1) below 0 and beta * x
/// above; shrink moves by beta what lies outside [-alpha, alpha]; thresholded_relu keeps what is
/// above alpha; clip is between alpha and beta; hard_sigmoid is alpha * x + beta between 0 and 1;
/// below 0, elu is alpha * (exp(x) - 1) and leaky_relu is alpha * x.
struct ElementFunction {
  Function function = Function::erf;
  float alpha = 0, beta = 0;
};

/// The error is below 1e-6, relative or absolute, whichever is larger. NaN stays NaN. `to` may be
/// `from`. `added`: what is added to each result, if anything. Runs on the calling thread and its
/// OpenMP helpers.
void apply(const ElementFunction& function, std::span<const float> from, float* to,
           const float* added = nullptr);

}  // namespace millrace::kernels
