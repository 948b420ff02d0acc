#include "base/duration.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"

namespace millrace {

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

}  // namespace millrace
