#pragma once
// What a board's SDKs allow of a plan as a whole.
#include "base/verdict.h"
#include "board/board.h"
#include "plan/plan.h"

namespace millrace::explore {

/// No, with the reason, if a processor, or all of a device together, would get more subnets than
/// their SDK has room for, or a stage more streams than its processor takes. Streams share a
/// subnet.
Verdict within_limits(const plan::Plan& plan, const board::Board& board);

/// Most streams of one stage: as the device's limits say; 1 if they are silent, any on cores.
std::int64_t most_streams(const board::Board& board, const board::Processor& processor);

}  // namespace millrace::explore
