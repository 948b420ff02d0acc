#pragma once
// Whether bytes are text.
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

}  // namespace millrace
