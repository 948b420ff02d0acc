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

/// In a Placement of a bound: a core like this one that this stage has for itself, whichever it is.
/// No placement on real cores has less to wait for. `stage` counts from 0 within the group.
std::size_t core_of_its_own(const board::Board& board, std::size_t processor, std::size_t stage);
/// The board's processor, or one like which it is.
std::size_t processor_like(const board::Board& board, std::size_t placed);

/// The plans, and behind them the same with their steps before and after the network on cores of
/// each other CPU device.
std::vector<GroupPlan> with_steps_on_each_device(const board::Board& board,
                                                 std::vector<GroupPlan> plans);

/// The board's processors of the same device as this one, by name; in the board's order.
std::vector<std::size_t> equal_processors(const board::Board& board, const std::string& processor);

}  // namespace millrace::explore
