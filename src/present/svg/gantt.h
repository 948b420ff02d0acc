#pragma once
// Who worked on what when, as a picture.
#include <string>

#include "base/trace.h"

namespace millrace::present {

struct GanttOptions {
  std::string title;
  Time from{}, to{};  // what of the trace is drawn; `to` 0: until its end
};

/// A Gantt chart as SVG, complete in itself: a row for each processor, marks where frames come and
/// where they are done; a colour for each frame or, with several plans, for each plan. Pointing at
/// a bar shows what it is.
std::string gantt_svg(const Trace& trace, const GanttOptions& options);

/// When the first of the trace's plans has completed so many frames; the end, if none has.
Time completion_of(const Trace& trace, std::int64_t frames);

/// Only what is of the first frames of each plan.
Trace first_frames(Trace trace, std::int64_t frames);

}  // namespace millrace::present
