#pragma once
// The two kinds of failure that reach a user. Our own mistakes are assertions.
#include <stdexcept>
#include <string>

#include "base/excerpt.h"

namespace millrace {

/// Something the user gave is wrong: a file, a field, an option. `place` names where (file,
/// line or field), the text says what was found, what was expected and what to do; both are shown
/// as printable text, with excerpts of what is very long.
class InputError : public std::runtime_error {
 public:
  InputError(std::string place, const std::string& text)
      : std::runtime_error(
            short_message(place.empty() ? text
                                        : excerpt(masked(place), longest_place) + ": " + text)),
        place_(std::move(place)) {}
  const std::string& place() const { return place_; }

 private:
  std::string place_;
};

/// A device, a library or the operating system failed; the input was fine.
class EngineError : public std::runtime_error {
 public:
  explicit EngineError(const std::string& text) : std::runtime_error(short_message(text)) {}
};

}  // namespace millrace
