#pragma once
// Where the steps before and after a network run.
#include "board/board.h"
#include "system/system.h"

namespace millrace::system {

/// Steps before and after a network run on a core: InputError if the group has some that take time,
/// and the board has no core.
void check_core_for_steps(const Group& group, const board::Board& board);

}  // namespace millrace::system
