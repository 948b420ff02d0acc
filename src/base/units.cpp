#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

namespace millrace {
namespace {

struct Scale {
  double factor;
  std::string_view unit;
};

std::string three_digits(double value, std::string_view unit) {
  const double size = std::abs(value);
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

template <std::size_t N>
std::string scaled(double value, const std::array<Scale, N>& scales) {
  for (const Scale& scale : scales)
    if (std::abs(value) >= scale.factor) return three_digits(value / scale.factor, scale.unit);
  return fmt::format("{:.0f} {}", value, scales.back().unit);
}

}  // namespace

std::string to_text(Time time) {
  constexpr std::array<Scale, 4> scales{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  return scaled(static_cast<double>(time.count()), scales);
}

std::string four_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value);
  // The first digit's place in what is left after rounding: 9999.6 has it where 10000 has.
  const std::string rounded = fmt::format("{:.3e}", value);
  const int place = std::stoi(rounded.substr(rounded.find('e') + 1));
  return fmt::format("{:.{}f}", std::stod(rounded), std::max(0, 3 - place));
}

std::string counted(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string to_text(Bytes bytes) {
  constexpr double kib = 1024;
  constexpr std::array<Scale, 3> scales{
      {{kib * kib * kib, "GiB"}, {kib * kib, "MiB"}, {kib, "KiB"}}};
  if (std::abs(static_cast<double>(bytes.count)) < kib) return fmt::format("{} B", bytes.count);
  return scaled(static_cast<double>(bytes.count), scales);
}

}  // namespace millrace
