#pragma once
// Inside the room: bounds along the paths of a flow. While an activation is under way, one of its
// tasks runs or waits for others on its resource. So a window from one task's release to another's
// end holds the path's own work and what others can do there meanwhile, and an activation of
// another flow counts once, however many of the path's tasks it delays.
#include <vector>

#include "realtime/interference.h"
#include "realtime/structure.h"

namespace millrace::realtime {

struct TaskState;

/// `unbounded`: this analysis finds no bound.
struct PathBound {
  Time response = unbounded;    // from the task's own activation
  Time done = unbounded;        // from the flow's activation
  Time completion = unbounded;  // from when the event was due
};

class PathBounds {
 public:
  PathBounds(const TaskSystem& system, const Structure& structure, bool splits);

  /// `states`: of all tasks, by TaskId. `now`: the task's own, whose bounds are to be undercut.
  PathBound of(TaskId task, const std::vector<TaskState>& states, const TaskState& now);

 private:
  struct Path;
  struct Visit;
  /// The longest windows from one task's release to another's end, over all paths between them.
  struct Windows {
    Time plain = unbounded;
    Time extended = unbounded;  // from the begin of the first resource's busy window
    std::int64_t level = 0;     // the least priority on the first resource
    bool is_known = false;
  };

  PathBound along(Path& path, PathBound best);
  Windows windows_of(const Path& path, Time limit) const;
  Time window_of(Path path, Time limit) const;
  Time split_window(Path& path, Time limit, int depth) const;
  void keep(const Path& path, const Windows& windows);
  bool can_extend(const Path& path) const;
  Interference interference_of(const Path& path) const;
  void add_own_flow(const Path& path, TaskId other, Interference& found) const;
  bool can_delay(TaskId other, const Visit& visit) const;
  void add_interferer(const Path& path, const Visit& visit, TaskId other,
                      std::vector<Interferer>& tasks) const;
  Time begin_of(const Path& path, const Visit& visit) const;
  Time end_of(const Path& path, const Visit& visit) const;
  Time until(const Path& path, TaskId last) const;
  Time blocking_of(TaskId task) const;
  Time head_latest(const Path& path, TaskId task) const;
  bool is_of_use(TaskId task) const;
  Windows& kept(TaskId first, TaskId last);
  const Windows& kept(TaskId first, TaskId last) const;

  const TaskSystem& system_;
  const Structure& structure_;
  const bool splits_;
  std::vector<bool> overloaded_;  // by ResourceId
  std::vector<bool> of_use_;      // by TaskId
  std::vector<Time> whole_;       // by FlowId: no response is longer
  std::vector<Windows> windows_;  // by first and last task
};

}  // namespace millrace::realtime
