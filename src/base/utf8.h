#pragma once
// Whether bytes are text, and its lines.
#include <algorithm>
#include <string_view>

#include "base/printable.h"

namespace millrace {

inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = first_character(text).first;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// Some editors put a mark before UTF-8.
inline std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

/// Takes the first line from the front, without its end: "\n", "\r\n" or "\r".
inline std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
  text.remove_prefix(line.size());
  text.remove_prefix(text.starts_with("\r\n") ? 2 : std::min<std::size_t>(1, text.size()));
  return line;
}

}  // namespace millrace
