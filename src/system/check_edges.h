#pragma once
// Edges between groups, and chains of them.
#include "system/system.h"

namespace millrace::system {

/// InputError with the place: an edge of a group to itself, from or to what has no network alone,
/// a second one into the same input, a queue that would overflow
/// or is of a group that is not periodic, a chain of less than two groups
/// or without an edge between two of them, a limit that is not above 0, a second chain of one name.
void check_edges(const System& system);

}  // namespace millrace::system
