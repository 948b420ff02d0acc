#pragma once
// The two kinds of failure that reach a user. Our own mistakes are assertions.
#include <stdexcept>
#include <string>

namespace millrace {

/// Names in files may hold anything; a message is one line, and moves no cursor.
inline std::string one_line(const std::string& text) {
  constexpr const char* digits = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= ' ' && code != 0x7f)
      result += c;
    else
      result += {'\\', 'x', digits[code / 16], digits[code % 16]};
  }
  return result;
}

/// Something the user gave is wrong: a file, a field, an option. `place` names where (file,
/// line or field), the text says what was found, what was expected and what to do.
class InputError : public std::runtime_error {
 public:
  InputError(std::string place, const std::string& text)
      : std::runtime_error(one_line(place.empty() ? text : place + ": " + text)),
        place_(std::move(place)) {}
  const std::string& place() const { return place_; }

 private:
  std::string place_;
};

/// A device, a library or the operating system failed; the input was fine.
class EngineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace millrace
