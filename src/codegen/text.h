#pragma once
// Inside the room: texts with places for what differs, and what may stand there.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::codegen {

/// "@NAME@" becomes what stands for NAME. Each is to be there.
using Replacements = std::vector<std::pair<std::string_view, std::string>>;
std::string with(std::string_view text, const Replacements& replacements);

/// Names in models and systems come from anywhere. On one line of a comment, none of them can end
/// it or join the next line to it.
std::string plain(std::string_view text);

/// Lines of a comment, "//   " and at most 96 columns, broken at blanks; plain().
std::string comment(const std::string& text);

/// As a text in C++.
std::string quoted(const std::string& text);
/// As one argument in CMake.
std::string argument(std::string_view text);

/// A CMakeLists.txt: what all programs begin with, the rest. Places in it: NAME, and WHAT it is.
std::string cmake_with_head(std::string_view rest);

}  // namespace millrace::codegen
