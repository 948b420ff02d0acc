#pragma once
#include <string>

namespace millrace::test {

/// How often `part` occurs in `text`.
inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

}  // namespace millrace::test
