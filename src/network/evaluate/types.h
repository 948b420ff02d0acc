#pragma once
// From a DataType to the C++ type that stores it, and conversions without undefined behaviour.
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "network/half.h"
#include "network/tensor.h"

namespace millrace::network::loops {

/// Towards zero, clamped to the range of To; NaN gives 0.
template <class To>
To saturate(double value) {
  using Limits = std::numeric_limits<To>;
  if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else {
    if (std::isnan(value)) return 0;
    if (value <= static_cast<double>(Limits::lowest())) return Limits::lowest();
    if (value >= static_cast<double>(Limits::max())) return Limits::max();
    return static_cast<To>(value);
  }
}

/// f(std::type_identity<float or double>).
template <class F>
void visit_float(DataType type, F&& f) {
  assert(type == DataType::float32 || type == DataType::float64);
  if (type == DataType::float64) return std::forward<F>(f)(std::type_identity<double>{});
  std::forward<F>(f)(std::type_identity<float>{});
}

/// Types to multiply and add in: integers do so modulo 2^32 or 2^64.
template <class F>
void visit_product(DataType type, F&& f) {
  if (type == DataType::int32 || type == DataType::uint32)
    return f(std::type_identity<std::uint32_t>{});
  if (type == DataType::int64 || type == DataType::uint64)
    return f(std::type_identity<std::uint64_t>{});
  visit_float(type, std::forward<F>(f));
}

/// f(std::type_identity) of the type itself, for all numbers but float16; not for boolean.
template <class F>
void visit_number(DataType type, F&& f) {
  switch (type) {
    case DataType::int8: return f(std::type_identity<std::int8_t>{});
    case DataType::uint8: return f(std::type_identity<std::uint8_t>{});
    case DataType::int16: return f(std::type_identity<std::int16_t>{});
    case DataType::uint16: return f(std::type_identity<std::uint16_t>{});
    case DataType::int32: return f(std::type_identity<std::int32_t>{});
    case DataType::uint32: return f(std::type_identity<std::uint32_t>{});
    case DataType::int64: return f(std::type_identity<std::int64_t>{});
    case DataType::uint64: return f(std::type_identity<std::uint64_t>{});
    default: return visit_float(type, std::forward<F>(f));
  }
}

/// The same for every type: Half and bool too.
template <class F>
void visit_any(DataType type, F&& f) {
  if (type == DataType::float16) return f(std::type_identity<Half>{});
  if (type == DataType::boolean) return f(std::type_identity<bool>{});
  visit_number(type, std::forward<F>(f));
}

/// Products and sums of signed integers that wrap instead of being undefined.
template <class T>
struct WrappingOf {
  using type = T;
};
template <class T>
  requires std::is_integral_v<T>
struct WrappingOf<T> {
  using type = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
};
template <class T>
using Wrapping = typename WrappingOf<T>::type;

}  // namespace millrace::network::loops
