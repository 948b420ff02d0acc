#pragma once
// What work tells on standard error: notes as lines; progress as a bar on a terminal, as plain
// lines elsewhere.
#include <string>

#include "api/context.h"

namespace millrace::cli {

/// A line on standard error.
void note(const std::string& text);

/// Keeps nothing.
api::Listener& terminal();

}  // namespace millrace::cli
