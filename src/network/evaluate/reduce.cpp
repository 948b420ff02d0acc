// Softmax, Reduce, ArgMax.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"
#include "network/evaluate/walk.h"

namespace millrace::network::loops {
namespace {

/// `size` values that stand `step` apart.
template <class T>
void softmax(const T* x, T* y, const AroundAxis& axis, bool log) {
  const std::int64_t step = axis.inner;
  T largest = x[0];
  for (std::int64_t i = 1; i < axis.size; ++i) largest = std::max(largest, x[i * step]);
  T sum{};
  for (std::int64_t i = 0; i < axis.size; ++i) {
    y[i * step] = std::exp(x[i * step] - largest);
    sum += y[i * step];
  }
  const T logarithm = std::log(sum);
  for (std::int64_t i = 0; i < axis.size; ++i)
    y[i * step] = log ? x[i * step] - largest - logarithm : y[i * step] / sum;
}

template <class T>
void softmax(const Softmax& op, const ConstView& in, const View& out) {
  const auto first = static_cast<std::size_t>(op.axis), end = static_cast<std::size_t>(op.end);
  const AroundAxis axis{count(in.shape, 0, first), count(in.shape, first, end),
                        count(in.shape, end, in.shape.size())};
  if (axis.size == 0) return;
  for (std::int64_t o = 0; o < axis.outer; ++o)
    for (std::int64_t i = 0; i < axis.inner; ++i) {
      const std::int64_t at = o * axis.size * axis.inner + i;
      softmax(in.as<T>() + at, out.as<T>() + at, axis, op.log);
    }
}

/// Strides of the result by the dimensions of the input: 0 in those that are reduced.
Shape reduced_strides(std::span<const std::int64_t> shape, const Shape& axes) {
  Shape kept(shape.begin(), shape.end());
  for (const std::int64_t axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
  return broadcast_strides(kept, kept);
}

/// Integers are summed modulo 2^64.
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, T, std::uint64_t>;

/// Rounded towards zero for integers. Of nothing there is no mean: NaN, or 0 for integers.
template <class T>
T quotient(Sum<T> sum, std::int64_t terms) {
  if constexpr (std::is_floating_point_v<T>) {
    return sum / static_cast<T>(terms);
  } else {
    if (terms == 0) return T{};
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(static_cast<std::int64_t>(sum) / terms);
    return static_cast<T>(sum / static_cast<std::uint64_t>(terms));
  }
}

/// Calls row(input, first result, elements, step of the result) for all rows of the input.
template <class T, class F>
void for_each_row(const Reduce& op, const ConstView& in, F row) {
  const Walk<2> walk = collapsed(Walk<2>{
      {in.shape.begin(), in.shape.end()},
      {strides_of(Shape(in.shape.begin(), in.shape.end())), reduced_strides(in.shape, op.axes)}});
  for_each(walk, walk.rank() - 1, [&](const std::array<std::int64_t, 2>& at) {
    row(in.as<T>() + at[0], at[1], walk.shape.back(), walk.strides[1].back());
  });
}

/// The sum of f(element) for every element of the result.
template <class T, class F>
std::vector<Sum<T>> sums_of(const Reduce& op, const ConstView& in, const View& out, F f) {
  std::vector<Sum<T>> sums(static_cast<std::size_t>(count(out.shape)));
  for_each_row<T>(op, in, [&](const T* x, std::int64_t to, std::int64_t size, std::int64_t step) {
    Sum<T>* sum = sums.data() + to;
    Sum<T> partial{};
    for (std::int64_t i = 0; i < size; ++i) {
      if (step == 0) {
        partial += f(static_cast<Sum<T>>(x[i]));
      } else {
        sum[i] += f(static_cast<Sum<T>>(x[i]));
      }
    }
    *sum += partial;
  });
  return sums;
}

template <class T>
void mean(const Reduce& op, const ConstView& in, const View& out) {
  const std::vector<Sum<T>> sums = sums_of<T>(op, in, out, [](Sum<T> x) { return x; });
  if (sums.empty()) return;
  const std::int64_t terms = count(in.shape) / static_cast<std::int64_t>(sums.size());
  std::transform(sums.begin(), sums.end(), out.as<T>(),
                 [=](Sum<T> sum) { return quotient<T>(sum, terms); });
}

/// Magnitude of a signed integer that is held in 64 bits.
template <class T>
Sum<T> magnitude(Sum<T> x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::abs(x);
  } else {
    return std::is_signed_v<T> && static_cast<std::int64_t>(x) < 0 ? Sum<T>{0} - x : x;
  }
}

template <class T>
void sum(const Reduce& op, const ConstView& in, const View& out) {
  const auto write = [&](const std::vector<Sum<T>>& sums, auto last) {
    std::transform(sums.begin(), sums.end(), out.as<T>(), last);
  };
  const auto same = [](Sum<T> x) { return x; };
  const auto square = [](Sum<T> x) { return x * x; };
  const auto as_is = [](Sum<T> x) { return static_cast<T>(x); };
  switch (op.kind) {
    case ReduceKind::l1:
      return write(sums_of<T>(op, in, out, magnitude<T>), as_is);
    case ReduceKind::sum_square:
      return write(sums_of<T>(op, in, out, square), as_is);
    case ReduceKind::l2:
      return write(sums_of<T>(op, in, out, square),
                   [](Sum<T> x) { return saturate<T>(std::sqrt(static_cast<double>(x))); });
    case ReduceKind::log_sum:
      return write(sums_of<T>(op, in, out, same), [](Sum<T> x) {
        return saturate<T>(std::log(static_cast<double>(static_cast<T>(x))));
      });
    default:
      return write(sums_of<T>(op, in, out, same), as_is);
  }
}

template <class T>
void product(const Reduce& op, const ConstView& in, const View& out) {
  std::fill_n(out.as<T>(), count(out.shape), T{1});
  for_each_row<T>(op, in, [&](const T* x, std::int64_t to, std::int64_t size, std::int64_t step) {
    T* result = out.as<T>() + to;
    for (std::int64_t i = 0; i < size; ++i, result += step)
      *result = static_cast<T>(static_cast<Wrapping<T>>(*result) * static_cast<Wrapping<T>>(x[i]));
  });
}

/// Not a number wins.
template <class T, class Better>
void extreme(const Reduce& op, const ConstView& in, const View& out, Better better) {
  using Limits = std::numeric_limits<T>;
  const T most = Limits::has_infinity ? Limits::infinity() : Limits::max();
  const T least = Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
  std::fill_n(out.as<T>(), count(out.shape), op.kind == ReduceKind::min ? most : least);
  for_each_row<T>(op, in, [&](const T* x, std::int64_t to, std::int64_t size, std::int64_t step) {
    T* best = out.as<T>() + to;
    for (std::int64_t i = 0; i < size; ++i, best += step)
      if (better(x[i], *best) || x[i] != x[i]) *best = x[i];
  });
}

/// The largest value is taken out first, so that no power overflows.
template <class T>
void log_sum_exp(const Reduce& op, const ConstView& in, const View& out) {
  Reduce largest = op;
  largest.kind = ReduceKind::max;
  std::vector<T> top(static_cast<std::size_t>(count(out.shape)));
  std::vector<double> sums(top.size());
  extreme<T>(largest, in, View{out.type, out.shape, reinterpret_cast<std::byte*>(top.data())},
             std::greater<T>());
  const auto base = [&](std::size_t i) {
    const double value = static_cast<double>(top[i]);
    return std::isfinite(value) ? value : 0;
  };
  for_each_row<T>(op, in, [&](const T* x, std::int64_t to, std::int64_t size, std::int64_t step) {
    for (std::int64_t i = 0; i < size; ++i) {
      const auto at = static_cast<std::size_t>(to + i * step);
      sums[at] += std::exp(static_cast<double>(x[i]) - base(at));
    }
  });
  for (std::size_t i = 0; i < sums.size(); ++i)
    out.as<T>()[i] = saturate<T>(std::log(sums[i]) + base(i));
}

/// The index of the largest of values that stand `inner` apart, or of the smallest.
template <class T>
std::int64_t index_of_best(const T* x, const AroundAxis& axis, const ArgMax& op) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < axis.size; ++i) {
    const T value = x[i * axis.inner], now = x[best * axis.inner];
    const bool better = op.smallest ? value < now : value > now;
    if (better || (op.select_last && value == now)) best = i;
  }
  return best;
}

}  // namespace

void run(const Softmax& op, Inputs in, Outputs out) {
  visit_float(out[0].type, [&]<class T>(std::type_identity<T>) { softmax<T>(op, in[0], out[0]); });
}

void run(const Reduce& op, Inputs in, Outputs out) {
  visit_number(out[0].type, [&]<class T>(std::type_identity<T>) {
    switch (op.kind) {
      case ReduceKind::mean:
        return mean<T>(op, in[0], out[0]);
      case ReduceKind::min:
        return extreme<T>(op, in[0], out[0], std::less<T>());
      case ReduceKind::max:
        return extreme<T>(op, in[0], out[0], std::greater<T>());
      case ReduceKind::prod:
        return product<T>(op, in[0], out[0]);
      case ReduceKind::log_sum_exp:
        return log_sum_exp<T>(op, in[0], out[0]);
      default:
        return sum<T>(op, in[0], out[0]);
    }
  });
}

void run(const ArgMax& op, Inputs in, Outputs out) {
  const AroundAxis axis = around(in[0].shape, op.axis);
  visit_number(in[0].type, [&]<class T>(std::type_identity<T>) {
    std::int64_t* to = out[0].as<std::int64_t>();
    for (std::int64_t o = 0; o < axis.outer; ++o)
      for (std::int64_t i = 0; i < axis.inner; ++i)
        *to++ = index_of_best(in[0].as<T>() + o * axis.size * axis.inner + i, axis, op);
  });
}

}  // namespace millrace::network::loops
