#pragma once
// How long the tasks of a deployment take on this machine, and what the controller adds to them.
#include <vector>

#include "board/board.h"
#include "deployment/deployment.h"
#include "runtime/controller/group_to_run.h"
#include "runtime/controller/timed_pieces.h"

namespace millrace::runtime {

/// Runs every phase as the session would, and every step with a function, each on its processor and
/// with the highest priority. By GroupId and in the order of the assignment's tasks; without
/// samples for steps that have no function. As runtime::deploy throws.
std::vector<std::vector<TaskTimes>> measure_tasks(const deployment::Deployment& deployment,
                                                  const board::Board& board,
                                                  const std::vector<GroupToRun>& groups,
                                                  const TaskTimesOptions& options = {});

/// What the controller costs.
struct Overhead {
  TaskTimes frame;    // response times without work: release, wake-ups and hand-overs
  TaskTimes release;  // of a core, by the release thread for each frame: see ReleaseCosts
};

/// Overhead of frames whose tasks do nothing, with all groups active and ordinary threads busy on
/// all cores half of the time; for a frame, that of the group for which it is most. Repeated where
/// the host took time of a core; the least counts then.
Overhead measure_overhead(const deployment::Deployment& deployment, const board::Board& board,
                          const std::vector<GroupToRun>& groups,
                          const TaskTimesOptions& options = {});

/// The deployment with these times. A task's worst time has a share of the overhead in it: of a
/// frame of its group, all of it; and the system's overhead is that of a frame, its cost of a
/// release that of one.
deployment::Deployment with_times(deployment::Deployment deployment,
                                  const std::vector<std::vector<TaskTimes>>& tasks,
                                  const Overhead& overhead, bool beside_others);

}  // namespace millrace::runtime
