#pragma once
// What a board's SDKs allow of a plan as a whole.
#include "base/verdict.h"
#include "board/board.h"
#include "plan/plan.h"

namespace millrace::explore {

/// No, with the reason, if a processor, or all of a device together, would get more subnets than
/// their SDK has room for.
Verdict within_limits(const plan::Plan& plan, const board::Board& board);

}  // namespace millrace::explore
