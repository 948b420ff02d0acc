#pragma once
// Names of files in commands that are suggested.
#include <string>
#include <string_view>

namespace millrace {

/// As a shell takes it for this one file: quoted if need be, and no option.
inline std::string shell_word(const std::string& file) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+:@%=,-";
  const std::string named = file.starts_with('-') ? "./" + file : file;
  if (named.find_first_not_of(plain) == std::string::npos) return named;
  std::string quoted = "'";
  for (const char c : named) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace millrace
