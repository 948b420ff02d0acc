#pragma once
// Two processes on one core share its time, and neither sees why it is slow: see
// board/cores_in_use.h.
#include <vector>

#include "board/board.h"
#include "plan/plan.h"
#include "product/context.h"

namespace millrace::product {

/// Puts a processor first whose cores no other process uses, and notes that this one does. Without
/// such a processor the order stays.
void put_free_first(board::Board& board);

/// Notes which of the cores another process uses.
void note_shared_cores(const std::vector<int>& cores, const millrace::Context& context);
void note_shared_cores(const plan::Plan& plan, const millrace::Context& context);

}  // namespace millrace::product
