#pragma once
// Inside the room: what follows from the graph of a task system's tasks.
#include <vector>

#include "realtime/task_system.h"

namespace millrace::realtime {

struct Structure {
  std::vector<FlowId> flow_of;                  // by TaskId
  std::vector<std::vector<TaskId>> order;       // by FlowId: tasks after those they wait for
  std::vector<std::vector<TaskId>> before;      // by TaskId: all tasks that end first, ascending
  std::vector<std::vector<TaskId>> successors;  // by TaskId
  std::vector<std::vector<TaskId>> on;          // by ResourceId

  /// Whether `first` ends before `task` begins, for the same event.
  bool is_before(TaskId first, TaskId task) const;
};

/// InputError if tasks wait for each other in a circle, or for a task of another flow.
Structure structure_of(const TaskSystem& system);

}  // namespace millrace::realtime
