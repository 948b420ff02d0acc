#include "codegen/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <sstream>

#include "base/text/escape.h"

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
find_package(millrace 0.1 REQUIRED COMPONENTS rooms)

)cmake";

}  // namespace

std::string with(std::string_view text, const Replacements& replacements) {
  std::string result;
  std::size_t used = 0;
  for (std::size_t at = 0; (at = text.find('@')) != std::string_view::npos;) {
    const std::string_view name = text.substr(at + 1, text.find('@', at + 1) - at - 1);
    const auto found = std::ranges::find(replacements, name, &Replacements::value_type::first);
    assert(found != replacements.end());
    result.append(text.substr(0, at)).append(found->second);
    text.remove_prefix(at + name.size() + 2);
    ++used;
  }
  assert(used >= replacements.size());
  return result.append(text);
}

std::string comment(const std::string& text) {
  constexpr const char *first = "//   ", *further = "//       ";
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    word = cpp_comment(word);
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

std::string cmake_with_head(std::string_view rest) {
  std::string result(cmake_head);
  result.append(rest);
  return result;
}

}  // namespace millrace::codegen
