#pragma once
// Quantities that carry their unit in their type.
#include <chrono>
#include <compare>
#include <cstdint>
#include <string>

namespace millrace {

/// Durations are whole nanoseconds, so that sums, comparisons and fractions are exact.
using Time = std::chrono::nanoseconds;

/// Divided, not multiplied by 1e-6: 0.3 ms are the number nearest to 0.3.
constexpr double milliseconds(Time time) { return static_cast<double>(time.count()) / 1e6; }
constexpr double microseconds(Time time) { return static_cast<double>(time.count()) / 1e3; }
constexpr double seconds(Time time) { return static_cast<double>(time.count()) / 1e9; }
/// Rounded to the nearest nanosecond.
constexpr Time time_from_seconds(double value) {
  return Time(static_cast<std::int64_t>(value * 1e9 + (value < 0 ? -0.5 : 0.5)));
}

/// An amount of memory.
struct Bytes {
  std::int64_t count = 0;

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    count += other.count;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return {a.count * n}; }
};

/// "17.3 ms", "412 us": three significant digits with the fitting unit.
std::string to_text(Time time);
/// "44690", "435.3", "0.7440": four significant digits, for rates and ratios that were measured.
std::string four_digits(double value);

/// "1 stage", "2 stages".
std::string counted(std::size_t count, const std::string& noun);
/// "1.50 MiB", "312 B".
std::string to_text(Bytes bytes);

}  // namespace millrace
