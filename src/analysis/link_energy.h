#pragma once
// What of a frame goes over the links between boards, and what that draws.
#include <span>
#include <vector>

#include "board/joined/joined_boards.h"
#include "board/power.h"
#include "plan/plan.h"

namespace millrace::analysis {

/// A row for each link that a frame's transfers use and whose energy is known: "second.link".
std::vector<board::DeviceEnergy> link_energy(const plan::Plan& plan,
                                             const network::Network& network,
                                             std::span<const board::Link> links);

}  // namespace millrace::analysis
