#pragma once
// What work tells: its answer on standard output; on standard error notes as lines, and progress as
// a bar on a terminal, as plain lines elsewhere.
#include <string>

#include "product/context.h"

namespace millrace::cli {

/// The answer, with its settings as options.
void show(const std::string& answer);
/// A line on standard error, likewise.
void note(const std::string& text);

/// Its notes and progress are shown, and Ctrl-C ends its work.
void attach_terminal(product::Context& context);
/// A context that is attached.
product::Context at_terminal();

}  // namespace millrace::cli
