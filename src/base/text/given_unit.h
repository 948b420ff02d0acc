#pragma once
// Quantities whose unit may be left out: "20" where milliseconds are meant.
#include <string>
#include <string_view>

namespace millrace {

/// "s", "ms" and "period"; "KiB" and "MiB".
bool is_unit_of_time(std::string_view unit);
bool is_unit_of_size(std::string_view unit);

/// `text` with a unit, as read_duration() and read_bytes() take it: "20" is "20ms" where `unit` is
/// "ms", and of a period "50fps" is "20ms" too. What cannot be read stays as it is.
std::string with_unit(const std::string& text, std::string_view unit);

/// A number of seconds, or of `unit` of memory, without its unit. What cannot be read stays.
std::string plain_number(const std::string& text, std::string_view unit);

}  // namespace millrace
