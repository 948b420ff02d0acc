#pragma once
// Inside the room: the work of other tasks in a window in which a path of a flow is under way. All
// tasks of one flow are counted for the same activations.
#include <vector>

#include "realtime/checked.h"
#include "realtime/event_model.h"
#include "realtime/task_system.h"

namespace millrace::realtime {

/// A job counts if its event is due after `left` and before min(window, until) - earliest, from the
/// window's begin on.
struct Interferer {
  TaskId task;
  Time worst{}, left{}, earliest{}, until{};
  bool ends_by_then = false;  // what was due `time` after `left` has no more than `time` left to do
  const EventModel* arrivals = nullptr;  // if set: of all jobs that count in the window
};

/// The tasks of another flow.
struct FlowInterference {
  EventModel due;  // without jitter and distance
  std::vector<Interferer> tasks;

  /// The largest work in a window. Periodic events are tried at each phase at which a task's last
  /// job just counts; one phase serves all tasks (Tindell 1994; Palencia, Gonzalez Harbour 1998).
  Time most_work(Time window) const;
};

/// Later activations of the window's own flow: a job of `worst` counts for each whole period below
/// ahead + min(window, until).
struct LaterInterference {
  Time worst{}, ahead{}, until{};
};

/// A window and all that can be done in it.
struct Interference {
  Time constant{};  // the path's own work, blocking, and what comes once
  Time period{1};   // of the path's flow
  std::vector<FlowInterference> flows = {};
  std::vector<LaterInterference> later = {};

  /// The longest window; `unbounded` if it is not below `limit`.
  Time longest_window_below(Time limit) const;
};

}  // namespace millrace::realtime
