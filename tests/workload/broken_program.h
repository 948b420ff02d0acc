#pragma once
// Programs that are broken at random.
#include <optional>

#include "base/random.h"
#include "workload/workload.h"

namespace millrace::workload {

/// One change: of the order of the workloads, or of one field of a link, a joint, a buffer or a
/// memory. It may change nothing that matters.
void break_at_random(Program& program, Random& random);

/// As a file gives it; nothing if no file could say so, or its check takes long.
std::optional<Program> reread(const Program& program);

}  // namespace millrace::workload
