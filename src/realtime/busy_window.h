#pragma once
// Inside the room: the one loop over the jobs of a busy window, for every policy.
#include <vector>

#include "realtime/policy.h"

namespace millrace::realtime {

struct WindowBound {
  Time response{};      // from the task's activation; `unbounded`: none
  Time after_due{};     // what the task adds to its latest activation since the event was due
  Time after_source{};  // the same since the flow's activation
  Time least_gap = unbounded;       // from an end to the next activation in the same window; may
                                    // be negative
  std::vector<Time> finishes = {};  // of the first, second, ... job, in the window's worst case
};

/// Whether what competes needs all time and more, or comes without end: then there is no bound.
bool is_overloaded(const LocalView& view, const PolicyRule& rule);

/// `events`: of the flow, as they come in. Sets `view.window`.
WindowBound busy_window(LocalView& view, const PolicyRule& rule, const EventModel& events);

}  // namespace millrace::realtime
