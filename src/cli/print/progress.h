#pragma once
// What work tells on standard error: notes as lines; progress as a bar on a terminal, as plain
// lines elsewhere.
#include <string>

#include "api/context.h"

namespace millrace::cli {

/// A line on standard error.
void note(const std::string& text);

/// Its notes and progress are shown, and Ctrl-C ends its work.
void attach_terminal(api::Context& context);
/// A context that is attached.
api::Context at_terminal();

}  // namespace millrace::cli
