#include "api/trace.h"

#include <fmt/format.h>

#include "api/written_over.h"

namespace millrace::api {
namespace {

void shorten(Trace& trace, double scale) {
  const auto shorten = [&](Time& time) { time = time_from_seconds(seconds(time) / scale); };
  for (TraceFiring& firing : trace.firings)
    for (Time* time : {&firing.begin, &firing.end}) shorten(*time);
  for (TraceWait& wait : trace.waits)
    for (Time* time : {&wait.begin, &wait.end}) shorten(*time);
  for (TraceFrame& frame : trace.frames)
    for (Time* time : {&frame.released, &frame.submitted, &frame.completed}) shorten(*time);
}

}  // namespace

void check_trace(const TraceOptions& options, const RunnableOptions& runnable) {
  if (options.file.empty()) return;
  FilesRead files;
  files.add(runnable);
  files.refuse_unwritable({options.file});
}

std::int64_t frames_of(const TraceOptions& options) {
  return options.file.empty() ? 0 : options.frames;
}

void write_trace(const TraceOptions& options, runtime::Session& session, const Loaded& loaded) {
  if (options.file.empty()) return;
  const double time_scale = loaded.simulated.time_scale;
  Trace trace = session.trace();
  if (time_scale != 1) shorten(trace, time_scale);
  write_chrome_trace(options.file, trace);
  loaded.context.note(
      fmt::format("written: {}, the last {} frames", options.file, trace.frames.size()));
}

}  // namespace millrace::api
