#include "codegen/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <sstream>

#include "base/printable.h"

namespace millrace::codegen {
namespace {

constexpr std::size_t longest_line = 96;

constexpr std::string_view cmake_head =
    R"cmake(# @NAME@: @WHAT@. Where Millrace is installed:
#   cmake -S . -B build -DCMAKE_PREFIX_PATH=WHERE_MILLRACE_IS_INSTALLED
#   cmake --build build && ctest --test-dir build
cmake_minimum_required(VERSION 3.22)
project(@NAME@ LANGUAGES CXX)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_package(millrace 0.1 REQUIRED)

)cmake";

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

std::string plain(std::string_view text) {
  std::string result = printable(text);
  std::ranges::replace(result, '\\', '/');
  return result;
}

std::string comment(const std::string& text) {
  constexpr const char *first = "//   ", *further = "//       ";
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    word = plain(word);
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
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\{:03o}", byte);  // no digit that follows joins it
      continue;
    }
    if (c == '"' || c == '\\' || c == '?') result += '\\';  // "??" begins a trigraph
    result += c;
  }
  return result + '"';
}

std::string argument(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '$') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string cmake_with_head(std::string_view rest) {
  std::string result(cmake_head);
  result.append(rest);
  return result;
}

}  // namespace millrace::codegen
