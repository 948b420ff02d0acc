#include "kernels/plain/functions.h"

#include <algorithm>
#include <cmath>

#include "kernels/plain/exponentials.h"
#include "kernels/plain/lanes.h"
#include "kernels/plain/pieces.h"
#include "kernels/plain/smooth.h"

namespace millrace::kernels {
namespace {

template <class F>
[[gnu::always_inline]] inline void map_all(std::span<const float> from, float* to, const F& f) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = f(from[i]);
}

/// The same of vectors.
template <class F>
struct LaneMap {
  std::span<const float> from;
  float* to;
  F f;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    typename LanesOf<lanes>::Type x = {};
    const std::size_t rest = from.size() % lanes, whole = from.size() - rest;
    for (std::size_t i = 0; i < whole; i += lanes) {
      read_lanes(x, from.data() + i);
      x = f(x);
      __builtin_memcpy(to + i, &x, sizeof x);
    }
    if (rest == 0) return;
    __builtin_memcpy(&x, from.data() + whole, rest * sizeof(float));
    x = f(x);
    __builtin_memcpy(to + whole, &x, rest * sizeof(float));
  }
};

template <class F>
void map_lanes(std::span<const float> from, float* to, const F& f) {
  run_in_lanes(LaneMap<F>{from, to, f});
}

/// exp(x) - 1 below zero, else 0.
[[gnu::always_inline]] inline float below_zero(float x) {
  return exponential_less_one(x < 0.f ? x : 0.f);
}

[[gnu::always_inline]] inline void map_pieces(const ElementFunction& f, std::span<const float> from,
                                              float* to) {
  const float alpha = f.alpha, beta = f.beta;
  switch (f.function) {
    case Function::celu: {
      const float factor = 1.f / alpha;
      return map_all(from, to,
                     [=](float x) { return x < 0.f ? alpha * below_zero(x * factor) : x; });
    }
    case Function::selu:
      return map_all(from, to,
                     [=](float x) { return beta * (x <= 0.f ? alpha * below_zero(x) : x); });
    case Function::sign:
      return map_all(from, to, [](float x) {
        return x > 0.f ? 1.f : x < 0.f ? -1.f : x != x ? x : 0.f;
      });
    case Function::shrink:
      return map_all(from, to, [=](float x) {
        const float outside = x > alpha ? x - beta : x != x ? x : 0.f;
        return x < -alpha ? x + beta : outside;
      });
    case Function::elu:
      return map_all(from, to, [=](float x) { return x < 0.f ? alpha * below_zero(x) : x; });
    case Function::leaky_relu:
      return map_all(from, to, [=](float x) { return x < 0.f ? alpha * x : x; });
    case Function::abs:
      return map_all(from, to, [](float x) { return std::abs(x); });
    case Function::neg:
      return map_all(from, to, [](float x) { return -x; });
    case Function::thresholded_relu:
      return map_all(from, to, [=](float x) { return x > alpha || x != x ? x : 0.f; });
    default:
      return map_all(from, to, [](float x) { return x / (1.f + std::abs(x)); });
  }
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void map_piece(const ElementFunction& f, std::span<const float> from, float* to) {
  switch (f.function) {
    case Function::floor:
      return map_all(from, to, [](float x) { return std::floor(x); });
    case Function::ceil:
      return map_all(from, to, [](float x) { return std::ceil(x); });
    case Function::sin:
      return map_all(from, to, [](float x) { return sine_of_quarters(x, 0); });
    case Function::cos:
      return map_all(from, to, [](float x) { return sine_of_quarters(x, 1); });
    case Function::exp:
      return map_all(from, to, [](float x) { return exponential(x); });
    case Function::log:
      return map_all(from, to, [](float x) { return logarithm(x); });
    case Function::softplus:
      return map_all(from, to, [](float x) { return soft_plus(x); });
    case Function::reciprocal:
      return map_all(from, to, [](float x) { return 1.f / x; });
    default:
      return map_pieces(f, from, to);
  }
}

/// Whether it is one that vectors are computed for.
bool map_in_lanes(const ElementFunction& f, std::span<const float> from, float* to) {
  switch (f.function) {
    case Function::erf:
      map_lanes(
          from, to, [](const auto& x) __attribute__((always_inline)) { return error_function(x); });
      return true;
    case Function::sigmoid:
      map_lanes(
          from, to, [](const auto& x) __attribute__((always_inline)) { return sigmoid(x); });
      return true;
    case Function::tanh:
      map_lanes(
          from, to,
          [](const auto& x) __attribute__((always_inline)) { return hyperbolic_tangent_of(x); });
      return true;
    case Function::swish:
      map_lanes(
          from, to, [](const auto& x) __attribute__((always_inline)) { return swish(x); });
      return true;
    case Function::clip:
      map_lanes(
          from, to, [low = f.alpha, high = f.beta](const auto& x) __attribute__((always_inline)) {
            return clipped(x, low, high);
          });
      return true;
    case Function::hard_sigmoid:
      map_lanes(
          from, to, [a = f.alpha, b = f.beta](const auto& x) __attribute__((always_inline)) {
            return clipped(x * a + b, 0, 1);
          });
      return true;
    case Function::hard_swish:
      map_lanes(
          from, to, [](const auto& x) __attribute__((always_inline)) { return hard_swish(x); });
      return true;
    case Function::gelu:
      map_lanes(
          from, to, [](const auto& x) __attribute__((always_inline)) { return gelu(x); });
      return true;
    case Function::gelu_tanh:
      map_lanes(
          from, to, [](const auto& x) __attribute__((always_inline)) { return gelu_tanh(x); });
      return true;
    case Function::mish:
      map_lanes(
          from, to, [](const auto& x) __attribute__((always_inline)) { return mish(x); });
      return true;
    default:
      return false;
  }
}

/// Large angles need a more exact pi.
bool has_large_angle(std::span<const float> numbers) {
  std::size_t large = 0;
  for (const float x : numbers) large += std::abs(x) <= largest_angle ? 0u : 1u;
  return large > 0;
}

void map_large_angles(const ElementFunction& f, std::span<const float> from, float* to) {
  if (f.function == Function::sin)
    map_all(from, to, [](float x) { return std::sin(x); });
  else
    map_all(from, to, [](float x) { return std::cos(x); });
}

}  // namespace

void apply(const ElementFunction& function, std::span<const float> from, float* to,
           const float* added) {
  const bool angles = function.function == Function::sin || function.function == Function::cos;
  in_pieces(from.size(), worthwhile, [&](std::size_t first, std::size_t last) {
    const auto piece = from.subspan(first, last - first);
    if (angles && has_large_angle(piece))
      map_large_angles(function, piece, to + first);
    else if (!map_in_lanes(function, piece, to + first))
      map_piece(function, piece, to + first);
    for (std::size_t i = first; added != nullptr && i < last; ++i) to[i] += added[i];
  });
}

}  // namespace millrace::kernels
