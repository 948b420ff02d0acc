#pragma once
// Lists in a text: "onednn,cuda@gpu0".
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

/// The parts between the separators, empty ones too; of an empty text one empty part.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace millrace
