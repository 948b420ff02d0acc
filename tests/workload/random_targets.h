#pragma once
// Memories of random sizes.
#include <utility>

#include "base/random.h"
#include "workload/tiling.h"

namespace millrace::workload {

/// With up to two memories between, each filled more slowly than the next one. `scratchpad`: the
/// range of its bytes.
TileTarget random_target(Random& random, std::pair<std::int64_t, std::int64_t> scratchpad);

}  // namespace millrace::workload
