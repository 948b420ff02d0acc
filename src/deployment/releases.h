#pragma once
// What the release of frames takes from the tasks on cores. Decision 101.
#include <cstddef>
#include <vector>

#include "base/units.h"
#include "realtime/task_system.h"

namespace millrace::deployment {

/// Adds the releases of all flows that there are: behind them a flow of the same period for each,
/// without a deadline, with a task on every resource that has tasks and a cost. It is above all
/// others there, and may take no time, since a release runs on one core only. `costs`: of a
/// release, by ResourceId; 0: the release thread never runs there.
void add_releases(realtime::TaskSystem& tasks, const std::vector<Time>& costs);

/// How many flows of a deployment's task system are groups, before those of releases.
std::size_t group_flows(const realtime::TaskSystem& tasks);

}  // namespace millrace::deployment
