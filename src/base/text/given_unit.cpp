#include "base/text/given_unit.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "base/quantity.h"

namespace millrace {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 7> seconds_of{
    {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"", 0}}};

struct Quantity {
  double value = 0;
  std::string_view unit;
};

/// Nothing: it does not begin with a number.
std::optional<Quantity> quantity_of(std::string_view text) {
  Quantity result;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), result.value);
  if (error != std::errc{}) return std::nullopt;
  result.unit = text.substr(static_cast<std::size_t>(stop - text.data()));
  while (result.unit.starts_with(' ')) result.unit.remove_prefix(1);
  return result;
}

}  // namespace

bool is_unit_of_time(std::string_view unit) {
  return unit == "s" || unit == "ms" || unit == "period";
}
bool is_unit_of_size(std::string_view unit) { return unit == "MiB" || unit == "KiB"; }

std::string plain_number(const std::string& text, std::string_view unit) {
  const auto found = quantity_of(text);
  if (!found) return text;
  const std::string_view given = found->unit.empty() ? unit : found->unit;
  for (const auto& [name, seconds] : seconds_of)
    if (is_unit_of_time(unit) && !name.empty() && given == name)
      return fmt::format("{:.15g}", found->value * seconds);
  if (!is_unit_of_size(unit) || (given != "KiB" && given != "MiB" && given != "GiB")) return text;
  const Bytes bytes = read_bytes(fmt::format("{}{}", found->value, given), "a size");
  const double size = unit == "KiB" ? 1 << 10 : 1 << 20;
  return fmt::format("{:.15g}", static_cast<double>(bytes.count) / size);
}

std::string with_unit(const std::string& text, std::string_view unit) {
  const auto found = quantity_of(text);
  if (!found) return text;
  if (unit == "period" && found->unit == "fps" && found->value > 0)
    return fmt::format("{}us", 1e6 / found->value);
  for (const auto& [name, seconds] : seconds_of)
    if (found->unit == name && seconds >= 60)
      return fmt::format("{}s", found->value * seconds);
  if (!found->unit.empty()) return text;
  return fmt::format("{}{}", text, unit == "period" ? "ms" : unit);
}

}  // namespace millrace
