#pragma once
// --trace of run and bench: what really happened, for ui.perfetto.dev.
#include <cstdint>
#include <string>

#include "api/loaded.h"
#include "runtime/scheduling/clock_watch.h"
#include "runtime/session.h"

namespace millrace::api {

struct TraceOptions {
  std::string file;  // empty: none
  std::int64_t frames = 1000;
};

/// Before the work: the file can be written, and is none that `runnable` is read from.
void check_trace(const TraceOptions& options, const RunnableOptions& runnable);
/// For SessionOptions::trace_frames.
std::int64_t frames_of(const TraceOptions& options);
/// Stops the session, if a trace is wanted. Times are the board's. `clocks`: that its cores had.
void write_trace(const TraceOptions& options, runtime::Session& session, const Loaded& loaded,
                 const runtime::ClockRecord& clocks);

}  // namespace millrace::api
