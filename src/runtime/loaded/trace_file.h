#pragma once
// What really happened, for ui.perfetto.dev.
#include <cstdint>
#include <string>

#include "runtime/loaded/loaded.h"
#include "runtime/scheduling/clock_watch.h"
#include "runtime/session.h"

namespace millrace::runtime {

struct TraceOptions {
  std::string file;  // empty: none
  std::int64_t frames = 1000;
};

/// For SessionOptions::trace_frames.
std::int64_t frames_of(const TraceOptions& options);
/// Stops the session, if a trace is wanted. Times are the board's. `clocks`: that its cores had.
void write_trace(const TraceOptions& options, Session& session, const Loaded& loaded,
                 const ClockRecord& clocks);

}  // namespace millrace::runtime
