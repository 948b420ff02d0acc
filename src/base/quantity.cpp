#include "base/quantity.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace millrace {
namespace {

constexpr std::pair<std::string_view, std::int64_t> byte_units[] = {
    {"GiB", std::int64_t{1} << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}};

}  // namespace

Time read_duration(const std::string& text, const std::string& place) {
  constexpr double longest_s = 1e6;
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  const double scale = unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 0;
  if (error != std::errc{} || !(value * scale > 0 && value * scale <= longest_s))
    throw InputError(place, fmt::format("found '{}', expected a time above 0 with its unit, such "
                                        "as 100ms, 0.5s or 250us, and at most 1000000s",
                                        text));
  return time_from_seconds(value * scale);
}

std::string duration_text(Time time) {
  for (const auto& [unit, length] : {std::pair{"s", 1'000'000'000}, {"ms", 1'000'000}})
    if (time.count() % length == 0) return fmt::format("{}{}", time.count() / length, unit);
  return fmt::format("{}us", microseconds(time));
}

Bytes read_bytes(const std::string& text, const std::string& place) {
  constexpr double most = 1e18;
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  double scale = 0;
  for (const auto& [name, size] : byte_units)
    if (unit == name) scale = static_cast<double>(size);
  if (error != std::errc{} || !(value * scale >= 1 && value * scale <= most))
    throw InputError(place, fmt::format("found '{}', expected an amount of memory with its unit, "
                                        "such as 512MiB or 2GiB",
                                        text));
  return {static_cast<std::int64_t>(value * scale)};
}

std::string bytes_text(Bytes bytes) {
  for (const auto& [name, size] : byte_units)
    if (bytes.count % size == 0) return fmt::format("{}{}", bytes.count / size, name);
  return fmt::format("{}B", bytes.count);
}

double read_share(const std::string& text, const std::string& place) {
  const bool percent = text.ends_with('%');
  const std::string digits = percent ? text.substr(0, text.size() - 1) : text;
  double value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size();
  if (!whole || !(value >= 0) || value > (percent ? 100 : 1) || (!percent && value == 1))
    throw InputError(place, fmt::format("found '{}', expected a share such as 1% or 0.01", text));
  return percent ? value / 100 : value;
}

template <class Number>
Number read_number(const std::string& text, const std::string& place) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size())
    throw InputError(place, fmt::format("found '{}', expected a {}", text,
                                        std::is_integral_v<Number> ? "whole number" : "number"));
  return number;
}

template std::int64_t read_number(const std::string& text, const std::string& place);
template std::uint64_t read_number(const std::string& text, const std::string& place);
template double read_number(const std::string& text, const std::string& place);

}  // namespace millrace
