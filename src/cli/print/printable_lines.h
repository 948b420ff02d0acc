#pragma once
// Texts of several lines, with names that others wrote, for a terminal.
#include <string>
#include <string_view>

#include "base/printable.h"

namespace millrace::cli {

/// Each line as printable() makes it.
inline std::string printable_lines(std::string_view text) {
  std::string result;
  while (true) {
    const std::size_t end = text.find('\n');
    result += printable(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace millrace::cli
