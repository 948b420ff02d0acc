#pragma once
// The traces of a deployment's groups as one.
#include <string>

#include "base/trace.h"

namespace millrace::runtime {

/// Adds a group's trace as another plan; without what ended before its begin.
void add_trace(Trace& all, const std::string& group, Trace trace);

}  // namespace millrace::runtime
