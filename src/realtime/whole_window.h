#pragma once
// Inside the room: a window in which all flows that can delay a flow do all their work.
#include "realtime/structure.h"

namespace millrace::realtime {

/// No response of the flow is longer: while one of these flows has something to do, at least one of
/// their resources works on it, unless all that is under way waits for an offset. `unbounded` if a
/// resource has a table, or if their work together fills the time.
Time whole_window(const TaskSystem& system, const Structure& structure, FlowId flow);

}  // namespace millrace::realtime
