#pragma once
// Inside the room: texts with places for what differs.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::codegen {

/// "@NAME@" becomes what stands for NAME; nothing is looked for in that again. Each is to be there.
using Replacements = std::vector<std::pair<std::string_view, std::string>>;
std::string with(std::string_view text, const Replacements& replacements);

/// Lines of a comment, "//   " and at most 96 columns, broken at blanks; cpp_comment().
std::string comment(const std::string& text);

/// A CMakeLists.txt: what all programs begin with, the rest. Places in it: NAME, and WHAT it is.
std::string cmake_with_head(std::string_view rest);

}  // namespace millrace::codegen
