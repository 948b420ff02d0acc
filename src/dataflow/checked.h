#pragma once
// 64-bit arithmetic that says when it does not fit.
#include <cstdint>
#include <string>

#include "base/error.h"

namespace millrace::dataflow {

[[noreturn]] inline void does_not_fit(const std::string& place) {
  throw InputError(place, "its numbers exceed 64 bits; make rates, tokens or times smaller");
}

inline std::int64_t checked_add(std::int64_t a, std::int64_t b, const std::string& place) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) does_not_fit(place);
  return sum;
}

inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b, const std::string& place) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) does_not_fit(place);
  return product;
}

}  // namespace millrace::dataflow
