#include <algorithm>
#include <cmath>

#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

template <class T, class F>
void map(const ConstView& in, const View& out, F f) {
  const T* from = in.as<T>();
  T* to = out.as<T>();
  const std::int64_t n = count(out.shape);
  for (std::int64_t i = 0; i < n; ++i) to[i] = f(from[i]);
}

/// Comparisons are written so that NaN stays NaN.
template <class T>
void clip(const Unary& op, const ConstView& in, const View& out) {
  const T low = saturate<T>(op.alpha), high = saturate<T>(op.beta);
  map<T>(in, out, [=](T x) {
    const T raised = x < low ? low : x;
    return raised > high ? high : raised;
  });
}

template <class T>
void linear_pieces(const Unary& op, const ConstView& in, const View& out) {
  const T alpha = static_cast<T>(op.alpha), beta = static_cast<T>(op.beta);
  const auto unit = [](T x) { return x < T{0} ? T{0} : x > T{1} ? T{1} : x; };
  switch (op.kind) {
    case UnaryKind::leaky_relu:
      return map<T>(in, out, [=](T x) { return x < T{0} ? alpha * x : x; });
    case UnaryKind::hard_sigmoid:
      return map<T>(in, out, [=](T x) { return unit(alpha * x + beta); });
    case UnaryKind::hard_swish:
      return map<T>(in, out, [=](T x) { return x * unit(x / T{6} + T{0.5}); });
    case UnaryKind::round:
      return map<T>(in, out, [](T x) { return std::nearbyint(x); });
    default:
      return map<T>(in, out, [](T x) { return std::sqrt(x); });
  }
}

template <class T>
T softplus(T x) {
  return x > T{0} ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

template <class T>
void exponential(const Unary& op, const ConstView& in, const View& out) {
  const T alpha = static_cast<T>(op.alpha);
  switch (op.kind) {
    case UnaryKind::sigmoid:
      return map<T>(in, out, [](T x) { return T{1} / (T{1} + std::exp(-x)); });
    case UnaryKind::tanh:
      return map<T>(in, out, [](T x) { return std::tanh(x); });
    case UnaryKind::elu:
      return map<T>(in, out, [=](T x) { return x < T{0} ? alpha * std::expm1(x) : x; });
    case UnaryKind::softplus:
      return map<T>(in, out, [](T x) { return softplus(x); });
    case UnaryKind::mish:
      return map<T>(in, out, [](T x) { return x * std::tanh(softplus(x)); });
    case UnaryKind::erf:
      return map<T>(in, out, [](T x) { return std::erf(x); });
    default:
      return map<T>(in, out, [](T x) { return std::exp(x); });
  }
}

bool is_exponential(UnaryKind kind) {
  using enum UnaryKind;
  return kind == sigmoid || kind == UnaryKind::tanh || kind == elu || kind == UnaryKind::softplus ||
         kind == mish || kind == UnaryKind::erf || kind == UnaryKind::exp;
}

}  // namespace

void run(const Unary& op, Inputs in, Outputs out) {
  if (op.kind == UnaryKind::relu)
    return visit_number(out[0].type, [&]<class T>(std::type_identity<T>) {
      map<T>(in[0], out[0], [](T x) { return x < T{0} ? T{0} : x; });
    });
  if (op.kind == UnaryKind::clip)
    return visit_number(out[0].type,
                        [&]<class T>(std::type_identity<T>) { clip<T>(op, in[0], out[0]); });
  visit_float(out[0].type, [&]<class T>(std::type_identity<T>) {
    is_exponential(op.kind) ? exponential<T>(op, in[0], out[0])
                            : linear_pieces<T>(op, in[0], out[0]);
  });
}

}  // namespace millrace::network::loops
