#pragma once
// Inside the room: whether a kernel may be given a link's tiles. It trusts their shapes.
#include <span>
#include <string>

#include "workload/workload.h"

namespace millrace::workload {

/// What is wrong with a processing link, in one run; empty: nothing is wrong.
std::string tile_violation(const Link& link, std::span<const Tile> sources, const Tile& sink);

}  // namespace millrace::workload
