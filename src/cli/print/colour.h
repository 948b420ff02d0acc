#pragma once
// Colours, where a person looks at a terminal and has not asked for none (NO_COLOR).
#include <cstdio>
#include <string>
#include <string_view>

namespace millrace::cli {

enum class Colour { red, green, yellow, bold };

/// Whether `stream` is a terminal that shows colours: not with NO_COLOR nor with TERM=dumb.
bool has_colours(std::FILE* stream);

/// The text in that colour if the stream has colours, else as it is.
std::string coloured(std::string_view text, Colour colour, std::FILE* stream = stdout);

}  // namespace millrace::cli
