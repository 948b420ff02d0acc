#include "support/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace millrace::test {
namespace {

using network::Array;
using network::DataType;

double half_to_double(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24)
                               : std::ldexp(fraction + 1024, exponent - 25));
}

template <class T>
std::vector<double> numbers(const Array& array) {
  const std::span<const T> values = array.values<T>();
  return {values.begin(), values.end()};
}

/// The values of a floating-point array; nothing for other types.
std::vector<double> floating(const Array& array) {
  if (array.type == DataType::float32) return numbers<float>(array);
  if (array.type == DataType::float64) return numbers<double>(array);
  std::vector<double> result;
  if (array.type == DataType::float16)
    for (const std::uint16_t bits : array.values<std::uint16_t>())
      result.push_back(half_to_double(bits));
  return result;
}

bool is_near(double found, double expected) {
  if (std::isnan(expected)) return std::isnan(found);
  return found == expected || std::abs(found - expected) <= 1e-5 + 1e-3 * std::abs(expected);
}

}  // namespace

std::string difference(const Array& found, const Array& expected) {
  if (found.type != expected.type)
    return fmt::format("the type is {}, expected {}", to_text(found.type), to_text(expected.type));
  if (found.shape != expected.shape)
    return fmt::format("the shape is {}, expected {}", network::to_text(found.shape),
                       network::to_text(expected.shape));
  const std::vector<double> a = floating(found);
  const std::vector<double> b = floating(expected);
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!is_near(a[i], b[i])) return fmt::format("element {} is {}, expected {}", i, a[i], b[i]);
  const bool differ = b.empty() && !std::ranges::equal(found.bytes(), expected.bytes());
  return differ ? "the values differ" : "";
}

double relative_error(const Array& found, const Array& expected) {
  const std::vector<double> a = floating(found);
  const std::vector<double> b = floating(expected);
  if (a.size() != b.size() || b.empty()) return HUGE_VAL;
  double error = 0;
  double largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (std::isnan(a[i])) return HUGE_VAL;
    error = std::max(error, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return largest > 0 ? error / largest : error;
}

}  // namespace millrace::test
