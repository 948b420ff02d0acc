#pragma once
// What the user would read.
#include <string>

#include "base/error.h"

namespace millrace::test {

/// The text of the InputError that `action` throws, or "no error".
std::string message_of(const auto& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace millrace::test
