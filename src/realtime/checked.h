#pragma once
// Exact arithmetic on times that says when it does not fit.
#include <cstdint>

#include "base/error.h"
#include "base/units.h"

namespace millrace::realtime {

/// No time of a task system is longer: 2^50 ns are 13 days.
inline constexpr Time longest_time{std::int64_t{1} << 50};
/// A busy window that grows longer is taken as endless.
inline constexpr Time longest_window{std::int64_t{1} << 56};
/// What has no bound.
inline constexpr Time unbounded = Time::max();

[[noreturn]] inline void does_not_fit() {
  throw InputError("the task system", "its times exceed 64 bits; make them smaller");
}

inline Time plus(Time a, Time b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a.count(), b.count(), &sum)) does_not_fit();
  return Time(sum);
}

inline Time times(Time time, std::int64_t count) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(time.count(), count, &product)) does_not_fit();
  return Time(product);
}

/// Rounded up; for any sign of `a`, and b > 0.
constexpr std::int64_t ceiling(Time a, Time b) {
  const std::int64_t quotient = a.count() / b.count();
  return quotient + (a.count() % b.count() > 0 ? 1 : 0);
}

}  // namespace millrace::realtime
