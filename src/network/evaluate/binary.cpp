#include <cmath>

#include "network/evaluate/broadcast.h"
#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"
#include "network/operator_kinds.h"

namespace millrace::network::loops {
namespace {

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

/// With the sign of the divisor, as in Python; of integers by 0 it is 0.
template <class T>
T modulo(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    if (b == T{0}) return T{0};
    if constexpr (std::is_signed_v<T>)
      if (b == T{-1}) return T{0};
    const T rest = static_cast<T>(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  }
}
/// With the sign of the dividend, as in C.
template <class T>
T remainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if (b == T{0}) return T{0};
    if constexpr (std::is_signed_v<T>)
      if (b == T{-1}) return T{0};
    return static_cast<T>(a % b);
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
    case BinaryKind::mod:
      return broadcast_rows<T, T>(in, out, modulo<T>);
    case BinaryKind::fmod:
      return broadcast_rows<T, T>(in, out, remainder<T>);
    default: return select<T>(kind, in, out);
  }
}

/// Bytes that are not 0 are true.
void logic(BinaryKind kind, Inputs in, const View& out) {
  using Byte = std::uint8_t;
  const auto rows = [&](auto f) {
    broadcast_rows<Byte, Byte>(
        in, out, [=](Byte a, Byte b) { return static_cast<Byte>(f(a != 0, b != 0) ? 1 : 0); });
  };
  if (kind == BinaryKind::logical_and) return rows([](bool a, bool b) { return a && b; });
  if (kind == BinaryKind::logical_or) return rows([](bool a, bool b) { return a || b; });
  rows([](bool a, bool b) { return a != b; });
}

/// C++ does not shift by as many bits as there are.
template <class T>
void bits(BinaryKind kind, Inputs in, const View& out) {
  using U = std::make_unsigned_t<T>;
  constexpr U width = 8 * sizeof(U);
  const auto rows = [&](auto f) { broadcast_rows<U, U>(in, out, f); };
  switch (kind) {
    case BinaryKind::bit_and: return rows([](U a, U b) { return static_cast<U>(a & b); });
    case BinaryKind::bit_or: return rows([](U a, U b) { return static_cast<U>(a | b); });
    case BinaryKind::bit_xor: return rows([](U a, U b) { return static_cast<U>(a ^ b); });
    case BinaryKind::shift_left:
      return rows([](U a, U b) { return b < width ? static_cast<U>(a << b) : U{0}; });
    default: return rows([](U a, U b) { return b < width ? static_cast<U>(a >> b) : U{0}; });
  }
}

}  // namespace

void run(const Binary& op, Inputs in, Outputs out) {
  if (is_logical(op.kind)) return logic(op.kind, in, out[0]);
  if (is_of_bits(op.kind))
    return visit_number(out[0].type, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T>) bits<T>(op.kind, in, out[0]);
    });
  visit_number(out[0].type,
               [&]<class T>(std::type_identity<T>) { arithmetic<T>(op.kind, in, out[0]); });
}

}  // namespace millrace::network::loops
