#include "codegen/text.h"

#include <fmt/format.h>

#include <cassert>
#include <sstream>

namespace millrace::codegen {
namespace {

constexpr std::size_t longest_line = 96;

}  // namespace

std::string with(std::string_view text, const Replacements& replacements) {
  std::string result(text);
  for (const auto& [name, by] : replacements) {
    const std::string place = fmt::format("@{}@", name);
    assert(result.find(place) != std::string::npos);
    for (std::size_t at = result.find(place); at != std::string::npos;
         at = result.find(place, at + by.size()))
      result.replace(at, place.size(), by);
  }
  return result;
}

std::string comment(const std::string& text) {
  constexpr const char *first = "//   ", *further = "//       ";
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    if (line.empty()) {
      line = first + word;
    } else if (line.size() + 1 + word.size() > longest_line) {
      result += line + "\n";
      line = further + word;
    } else {
      line += " " + word;
    }
  }
  return result + line + "\n";
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace millrace::codegen
