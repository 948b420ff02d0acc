#pragma once
// Inside the room: texts with places for what differs.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::codegen {

/// "@NAME@" becomes what stands for NAME. Each is to be there.
using Replacements = std::vector<std::pair<std::string_view, std::string>>;
std::string with(std::string_view text, const Replacements& replacements);

/// Lines of a comment, "//   " and at most 96 columns, broken at blanks.
std::string comment(const std::string& text);

/// As a text in C++.
std::string quoted(const std::string& text);

}  // namespace millrace::codegen
