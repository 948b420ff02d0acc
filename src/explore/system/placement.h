#pragma once
// Which of several equal processors each stage gets: Algorithm 5 of J. Kim's thesis, for any board.
#include <cstddef>
#include <vector>

#include "explore/system/combination.h"

namespace millrace::explore {

/// Round robin over the processors of each device: groups in the decreasing order of their longest
/// task on an accelerator of which there are several, each followed by those that run together with
/// it in some scene.
Placement place_stages(const CombinationProblem& problem, const Combination& combination);

/// The tasks of a plan that stay together: of one stage, or one step before or after the network.
/// By task, numbered from 0.
std::vector<std::size_t> stages_of_tasks(const deployment::Assignment& assignment);

/// The board's processors of the same device as this one, by name; in the board's order.
std::vector<std::size_t> equal_processors(const board::Board& board, const std::string& processor);

}  // namespace millrace::explore
