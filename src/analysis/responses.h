#pragma once
// Bounds of what a running deployment measures: responses of its groups, and its chains.
#include <cstddef>
#include <optional>
#include <vector>

#include "base/units.h"
#include "deployment/deployment.h"
#include "deployment/script.h"
#include "realtime/cause_effect.h"

namespace millrace::analysis {

/// From when a frame is due: those of realtime, and the controller's overhead. By GroupId; none:
/// not active, or without bound.
std::vector<std::optional<Time>> response_bounds(const deployment::Deployment& deployment,
                                                 const board::Board& board,
                                                 const deployment::Wanted& at);

struct ChainAnswer {
  std::size_t chain = 0;  // of the system
  realtime::ChainBounds bounds;
  std::vector<realtime::ChainPart> parts = {};  // by its groups; none: there is no bound
};

/// Answers for the chains whose groups are all active there. No bound where a frame may find its
/// group busy, and is skipped or late then.
std::vector<ChainAnswer> chain_answers(const system::System& system, const deployment::Wanted& at,
                                       const std::vector<std::optional<Time>>& responses);

/// Which chain may take longer than it is allowed to; empty: none.
std::string chain_reason(const system::System& system, const std::vector<ChainAnswer>& answers);

}  // namespace millrace::analysis
