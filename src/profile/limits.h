#pragma once
// What the SDK of a device does not run.
#include "base/verdict.h"
#include "board/board.h"
#include "engine/engine.h"
#include "profile/profile.h"

namespace millrace::profile {

/// No, with the reason, if the limits leave out the precision or the operator. A Reshape runs
/// everywhere: it does nothing.
Verdict within_limits(const board::Limits& limits, board::Precision precision,
                      const network::Operator& op);

/// The profile of this network, without what the limits of the board's devices leave out.
Profile within_limits(Profile profile, const network::Network& network, const board::Board& board);

/// The same, without what the engine does not run on processors that it reaches and that are no
/// cores.
Profile within_engine(Profile profile, const network::Network& network,
                      const engine::Engine& engine);

}  // namespace millrace::profile
