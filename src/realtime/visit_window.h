#pragma once
// Inside the room: the busy window of a resource in which all that a flow does there, one task
// after the other, is one piece. How late these tasks are to each other does not count in it, so it
// ends where windows of single tasks make each other longer without end.
#include <vector>

#include "realtime/path_bound.h"
#include "realtime/structure.h"

namespace millrace::realtime {

struct TaskState;

class VisitWindows {
 public:
  VisitWindows(const TaskSystem& system, const Structure& structure);

  /// `states`: of all tasks, by TaskId; `now`: the task's own. Unbounded if the resource has a
  /// table, or if its work fills the time.
  PathBound of(TaskId task, const std::vector<TaskState>& states, const TaskState& now) const;

 private:
  struct Reach;
  struct Level;

  Time window(const Level& level) const;
  bool begins(TaskId task, const Level& level) const;
  Reach reach(TaskId task, const Level& level) const;
  PathBound at(const Level& level) const;

  const TaskSystem& system_;
  const Structure& structure_;
};

}  // namespace millrace::realtime
