#pragma once
// Layers for which an engine has no fast kernel.
#include <string>

#include "profile/profile.h"

namespace millrace::report {

/// "3 of 50 layers run in plain loops, 12 % of the time on core0: pool1, ...", on the processor on
/// which they cost the largest share, the slowest layers first. Empty: none do, or they cost less
/// than 1 % everywhere. The reference engine, which has nothing else, does not count.
std::string plain_loops_text(const profile::Profile& profile);

}  // namespace millrace::report
