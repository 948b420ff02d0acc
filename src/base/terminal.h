#pragma once
// Texts for a terminal: its width, colours where a person looks and has not asked for none, and
// what goes to standard error.
#include <cstddef>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

namespace millrace {

/// The columns of the terminal at standard output; 100 if it is none.
std::size_t terminal_width();

/// The text in lines of at most `width` columns, each after the first behind `indent` spaces. Lines
/// of the text stay apart; words longer than a line stay whole.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

enum class Colour { red, green, yellow, bold };

/// Whether `stream` is a terminal that shows colours: not with NO_COLOR nor with TERM=dumb.
bool has_colours(std::FILE* stream);

/// The text in that colour if the stream has colours, else as it is.
std::string coloured(std::string_view text, Colour colour, std::FILE* stream = stdout);

/// Writes the pieces, at most four, to standard error at once. What cannot be written is lost: no
/// work ends because nobody can read its notes.
void write_error(std::initializer_list<std::string_view> pieces) noexcept;

}  // namespace millrace
