#pragma once
// Notes on standard error as JSON, for who collects logs. For main functions and what they call: no
// operation knows of it.
#include <string>
#include <string_view>

namespace millrace {

/// From now on, all of them.
void write_log_as_json();
bool is_log_json();

/// {"level": "note", "text": "...", "time_utc": "..."}, with its end. A text that begins with
/// "warning: " is of that level, and goes without the word.
std::string json_log_line(std::string_view level, std::string_view text);

}  // namespace millrace
