#pragma once
// What the user would read.
#include <string>

#include "base/error.h"

namespace millrace::test {

/// The text of the error that `action` throws, or "no error".
template <class Error = InputError>
std::string message_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace millrace::test
