#pragma once
// Names of files in commands that are suggested.
#include <string>
#include <string_view>

#include "base/printable.h"

namespace millrace {

/// As a shell takes it for this one file: quoted if need be, and no option. What printable() would
/// write out is written so in $'...', from which bash, zsh and newer shells make the bytes again.
inline std::string shell_word(const std::string& file) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+:@%=,-";
  const std::string named = file.starts_with('-') ? "./" + file : file;
  if (!named.empty() && named.find_first_not_of(plain) == std::string::npos) return named;
  const bool is_printable = printable(named) == named;
  std::string escaped;
  for (const char c : named) {
    if (is_printable)
      escaped += c == '\'' ? std::string("'\\''") : std::string(1, c);
    else
      escaped += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  }
  return (is_printable ? "'" : "$'") + printable(escaped) + "'";
}

}  // namespace millrace
