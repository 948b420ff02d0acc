#pragma once
// Long text that others wrote, such as a line of a file, as it may stand in a sentence.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/printable.h"

namespace millrace {

// In bytes.
inline constexpr std::size_t longest_quote = 300;
inline constexpr std::size_t longest_place = 600;
inline constexpr std::size_t longest_message = 2000;

/// The begin and the end of a text of more than `most` bytes, and between them how many characters
/// were left out; the text itself if that is no longer. No character of UTF-8 is cut.
inline std::string excerpt(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto goes_on = [](char c) { return (c & 0xc0) == 0x80; };
  std::size_t begin = most - most / 4, end = text.size() - most / 4;
  while (begin > 0 && goes_on(text[begin])) --begin;
  while (end < text.size() && goes_on(text[end])) ++end;
  const std::string_view left_out = text.substr(begin, end - begin);
  const auto count =
      left_out.size() - static_cast<std::size_t>(std::ranges::count_if(left_out, goes_on));
  const std::string mark = "... (" + std::to_string(count) + " more characters) ...";
  if (left_out.size() <= mark.size()) return std::string(text);
  return std::string(text.substr(0, begin)) + mark + std::string(text.substr(end));
}

/// The sentence with an excerpt of each piece between quotes. A quote begins and ends a piece if it
/// is at the edge of a word: that of "the user's" is none.
inline std::string with_short_quotes(std::string_view sentence) {
  const auto is_in_word = [&](std::size_t at) {
    const char c = at < sentence.size() ? sentence[at] : ' ';
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  const auto next_edge = [&](std::size_t from, std::ptrdiff_t outside) {
    std::size_t at = sentence.find('\'', from);
    while (at != sentence.npos && is_in_word(at + static_cast<std::size_t>(outside)))
      at = sentence.find('\'', at + 1);
    return at;
  };
  std::string result;
  std::size_t done = 0;
  for (std::size_t open = next_edge(0, -1); open != sentence.npos; open = next_edge(done, -1)) {
    const std::size_t close = next_edge(open + 1, 1);
    if (close == sentence.npos) break;
    result += sentence.substr(done, open + 1 - done);
    result += excerpt(sentence.substr(open + 1, close - open - 1), longest_quote) + "'";
    done = close + 1;
  }
  return result += sentence.substr(done);
}

/// A name that others gave, as it may stand on a line.
inline std::string short_name(std::string_view name) {
  return excerpt(printable(name), longest_quote);
}

/// A message as printable() makes it, of a length that a person reads.
inline std::string short_message(std::string_view text) {
  std::string message = printable(text);
  if (message.size() <= longest_quote) return message;
  return excerpt(with_short_quotes(message), longest_message);
}

}  // namespace millrace
