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
    case UnaryKind::floor:
      return map<T>(in, out, [](T x) { return std::floor(x); });
    case UnaryKind::ceil:
      return map<T>(in, out, [](T x) { return std::ceil(x); });
    case UnaryKind::reciprocal:
      return map<T>(in, out, [](T x) { return T{1} / x; });
    case UnaryKind::log:
      return map<T>(in, out, [](T x) { return std::log(x); });
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

template <class T>
void trigonometric(const Unary& op, const ConstView& in, const View& out) {
  switch (op.kind) {
    case UnaryKind::sin:
      return map<T>(in, out, [](T x) { return std::sin(x); });
    case UnaryKind::cos:
      return map<T>(in, out, [](T x) { return std::cos(x); });
    case UnaryKind::tan:
      return map<T>(in, out, [](T x) { return std::tan(x); });
    case UnaryKind::asin:
      return map<T>(in, out, [](T x) { return std::asin(x); });
    case UnaryKind::acos:
      return map<T>(in, out, [](T x) { return std::acos(x); });
    case UnaryKind::atan:
      return map<T>(in, out, [](T x) { return std::atan(x); });
    case UnaryKind::sinh:
      return map<T>(in, out, [](T x) { return std::sinh(x); });
    case UnaryKind::cosh:
      return map<T>(in, out, [](T x) { return std::cosh(x); });
    case UnaryKind::asinh:
      return map<T>(in, out, [](T x) { return std::asinh(x); });
    case UnaryKind::acosh:
      return map<T>(in, out, [](T x) { return std::acosh(x); });
    default:
      return map<T>(in, out, [](T x) { return std::atanh(x); });
  }
}

template <class T>
T gelu_by_tanh(T x) {
  const T root = static_cast<T>(0.7978845608028654);  // of 2 / pi
  return x / 2 * (1 + std::tanh(root * (x + static_cast<T>(0.044715) * x * x * x)));
}

template <class T>
void gated(const Unary& op, const ConstView& in, const View& out) {
  const T alpha = static_cast<T>(op.alpha), beta = static_cast<T>(op.beta);
  switch (op.kind) {
    case UnaryKind::gelu:
      return map<T>(in, out, [](T x) {
        return x / 2 * (1 + std::erf(x * static_cast<T>(0.7071067811865476)));
      });
    case UnaryKind::gelu_tanh:
      return map<T>(in, out, gelu_by_tanh<T>);
    case UnaryKind::celu:
      return map<T>(in, out, [=](T x) { return x < T{0} ? alpha * std::expm1(x / alpha) : x; });
    case UnaryKind::selu:
      return map<T>(in, out, [=](T x) { return beta * (x <= T{0} ? alpha * std::expm1(x) : x); });
    case UnaryKind::thresholded_relu:
      return map<T>(in, out, [=](T x) { return x > alpha || x != x ? x : T{0}; });
    case UnaryKind::softsign:
      return map<T>(in, out, [](T x) { return x / (1 + std::abs(x)); });
    case UnaryKind::shrink:
      return map<T>(in, out, [=](T x) {
        return x < -alpha ? x + beta : x > alpha ? x - beta : x != x ? x : T{0};
      });
    default:
      return map<T>(in, out, [=](T x) { return x / (1 + std::exp(-alpha * x)); });
  }
}

/// Also of integers: the negative of the smallest is itself.
template <class T>
void signs(UnaryKind kind, const ConstView& in, const View& out) {
  const auto negative = [](T x) {
    return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(x));
  };
  switch (kind) {
    case UnaryKind::neg:
      if constexpr (std::is_floating_point_v<T>) return map<T>(in, out, [](T x) { return -x; });
      return map<T>(in, out, negative);
    case UnaryKind::abs:
      if constexpr (std::is_floating_point_v<T>)
        return map<T>(in, out, [](T x) { return std::abs(x); });
      return map<T>(in, out, [=](T x) { return x < T{0} ? negative(x) : x; });
    default:
      return map<T>(in, out, [](T x) {
        return x > T{0} ? T{1} : x < T{0} ? static_cast<T>(-1) : x;
      });
  }
}

bool is_between(UnaryKind kind, UnaryKind first, UnaryKind last) {
  return kind >= first && kind <= last;
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
  using enum UnaryKind;
  if (is_between(op.kind, neg, sign))
    return visit_number(out[0].type,
                        [&]<class T>(std::type_identity<T>) { signs<T>(op.kind, in[0], out[0]); });
  if (op.kind == logical_not)
    return map<std::uint8_t>(in[0], out[0],
                             [](std::uint8_t x) { return static_cast<std::uint8_t>(x == 0); });
  visit_float(out[0].type, [&]<class T>(std::type_identity<T>) {
    if (is_exponential(op.kind)) return exponential<T>(op, in[0], out[0]);
    if (is_between(op.kind, UnaryKind::sin, UnaryKind::atanh))
      return trigonometric<T>(op, in[0], out[0]);
    if (is_between(op.kind, gelu, swish)) return gated<T>(op, in[0], out[0]);
    linear_pieces<T>(op, in[0], out[0]);
  });
}

}  // namespace millrace::network::loops
