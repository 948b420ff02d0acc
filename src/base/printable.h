#pragma once
// Text that others wrote, such as names in files, as it may be shown on a terminal.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/masked.h"

namespace millrace {

/// The length of the UTF-8 sequence that the text begins with, and its character; length 0 if it
/// begins with none. Precondition: the text is not empty.
inline std::pair<std::size_t, std::uint32_t> first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(text[i] & 0xff); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {0, 0};
  std::uint32_t character = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0, 0};
    character = character << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  if (character < least[length] || character > 0x10ffff || surrogate) return {0, 0};
  return {length, character};
}

/// Whether it does something to a terminal, or to the order of the text around it.
inline bool is_control(std::uint32_t c) {
  const auto within = [c](std::uint32_t low, std::uint32_t high) { return low <= c && c <= high; };
  return c < 0x20 || within(0x7f, 0x9f) || c == 0x61c || within(0x200e, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2066, 0x2069);
}

/// The text on one line, without what moves cursors: bytes of control characters, of those that
/// turn the direction of writing, and those that are not UTF-8 become "\x1b" and the like. All
/// addresses are masked().
inline std::string printable(std::string_view shown) {
  const std::string without_secrets = masked(shown);
  std::string_view text = without_secrets;
  constexpr const char* digits = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto [length, character] = first_character(text);
    const std::size_t taken = length == 0 ? 1 : length;
    if (length != 0 && !is_control(character))
      result += text.substr(0, taken);
    else
      for (const char c : text.substr(0, taken))
        result += {'\\', 'x', digits[(c & 0xff) / 16], digits[(c & 0xff) % 16]};
    text.remove_prefix(taken);
  }
  return result;
}

/// Each line as printable() makes it.
inline std::string printable_lines(std::string_view text) {
  std::string result;
  while (true) {
    const std::size_t end = text.find('\n');
    result += printable(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace millrace
