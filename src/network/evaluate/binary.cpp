#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"
#include "network/evaluate/walk.h"

namespace millrace::network::loops {
namespace {

/// One row of the result. The innermost dimension of an operand is dense or one repeated value.
template <class T, class U>
struct Row {
  T* to;
  const T* a;
  const U* b;
  std::int64_t size, a_step, b_step;
};

template <class T, class U, class F>
void compute(const Row<T, U>& row, F f) {
  if (row.a_step != 0 && row.b_step != 0) {
    for (std::int64_t i = 0; i < row.size; ++i) row.to[i] = f(row.a[i], row.b[i]);
  } else if (row.a_step != 0) {
    const U b = *row.b;
    for (std::int64_t i = 0; i < row.size; ++i) row.to[i] = f(row.a[i], b);
  } else {
    const T a = *row.a;
    for (std::int64_t i = 0; i < row.size; ++i) row.to[i] = f(a, row.b[i]);
  }
}

template <class T, class U, class F>
void broadcast_rows(Inputs in, const View& out, F f) {
  const Walk<3> walk = collapsed(Walk<3>{{out.shape.begin(), out.shape.end()},
                                         {broadcast_strides(out.shape, out.shape),
                                          broadcast_strides(in[0].shape, out.shape),
                                          broadcast_strides(in[1].shape, out.shape)}});
  for_each(walk, walk.rank() - 1, [&](const std::array<std::int64_t, 3>& at) {
    compute(Row<T, U>{out.as<T>() + at[0], in[0].as<T>() + at[1], in[1].as<U>() + at[2],
                      walk.shape.back(), walk.strides[1].back(), walk.strides[2].back()},
            f);
  });
}

template <class T>
T divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == T{0}) return T{0};
    if constexpr (std::is_signed_v<T>)
      if (b == T{-1}) return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
    return static_cast<T>(a / b);
  }
}

template <class T>
T whole_power(T base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == T{1}) return base;
    if constexpr (std::is_signed_v<T>)
      if (base == T{-1}) return exponent % 2 == 0 ? T{1} : base;
    return T{0};
  }
  auto factor = static_cast<Wrapping<T>>(base);
  Wrapping<T> result = 1;
  for (; exponent > 0; exponent >>= 1, factor *= factor)
    if (exponent & 1) result *= factor;
  return static_cast<T>(result);
}

/// The exponent may have another type: it is converted to the base's if that is floating, else
/// to int64 or, where it has a fraction, to double.
template <class T>
void power(Inputs in, const View& out) {
  const bool fraction = in[1].type == DataType::float32 || in[1].type == DataType::float64;
  DataType type = out.type;
  if constexpr (std::is_integral_v<T>) type = fraction ? DataType::float64 : DataType::int64;
  Buffer memory(size_of(type) * count(in[1].shape));
  const View exponent{type, in[1].shape, memory.data()};
  run(Cast{}, in.subspan(1, 1), {&exponent, 1});
  const std::array<ConstView, 2> both{in[0], ConstView{type, in[1].shape, memory.data()}};
  if constexpr (std::is_floating_point_v<T>) {
    broadcast_rows<T, T>(both, out, [](T a, T b) { return std::pow(a, b); });
  } else if (fraction) {
    broadcast_rows<T, double>(
        both, out, [](T a, double b) { return saturate<T>(std::pow(static_cast<double>(a), b)); });
  } else {
    broadcast_rows<T, std::int64_t>(both, out, whole_power<T>);
  }
}

/// NaN in either operand of max and min gives NaN.
template <class T>
void select(BinaryKind kind, Inputs in, const View& out) {
  if (kind == BinaryKind::max)
    return broadcast_rows<T, T>(in, out, [](T a, T b) { return a > b || a != a ? a : b; });
  broadcast_rows<T, T>(in, out, [](T a, T b) { return a < b || a != a ? a : b; });
}

template <class T>
void arithmetic(BinaryKind kind, Inputs in, const View& out) {
  using W = Wrapping<T>;
  switch (kind) {
    case BinaryKind::add:
      return broadcast_rows<T, T>(in, out, [](T a, T b) { return static_cast<T>(W(a) + W(b)); });
    case BinaryKind::sub:
      return broadcast_rows<T, T>(in, out, [](T a, T b) { return static_cast<T>(W(a) - W(b)); });
    case BinaryKind::mul:
      return broadcast_rows<T, T>(in, out, [](T a, T b) { return static_cast<T>(W(a) * W(b)); });
    case BinaryKind::div: return broadcast_rows<T, T>(in, out, divide<T>);
    case BinaryKind::prelu:
      return broadcast_rows<T, T>(
          in, out, [](T a, T b) { return a < T{0} ? static_cast<T>(W(a) * W(b)) : a; });
    case BinaryKind::pow: return power<T>(in, out);
    default: return select<T>(kind, in, out);
  }
}

}  // namespace

void run(const Binary& op, Inputs in, Outputs out) {
  visit_number(out[0].type,
               [&]<class T>(std::type_identity<T>) { arithmetic<T>(op.kind, in, out[0]); });
}

}  // namespace millrace::network::loops
