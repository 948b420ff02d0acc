#include "runtime/loaded/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/trace.h"
#include "runtime/loaded/clocks.h"

namespace millrace::runtime {
namespace {

void change_times(Trace& trace, const std::function<Time(Time)>& change) {
  const auto set = [&](Time& time) { time = change(time); };
  for (TraceFiring& firing : trace.firings)
    for (Time* time : {&firing.begin, &firing.end}) set(*time);
  for (TraceWait& wait : trace.waits)
    for (Time* time : {&wait.begin, &wait.end}) set(*time);
  for (TraceFrame& frame : trace.frames)
    for (Time* time : {&frame.released, &frame.submitted, &frame.completed}) set(*time);
  for (TraceClock& clock : trace.clocks) set(clock.at);
}

/// Lets it count from its first event, as a trace without clocks does. Of the clocks before, those
/// that were read last stand at its begin.
void begin_with_first_event(Trace& trace) {
  Time first = Time::max();
  for (const TraceFiring& firing : trace.firings) first = std::min(first, firing.begin);
  for (const TraceFrame& frame : trace.frames) first = std::min(first, frame.released);
  if (first == Time::max()) return;
  std::erase_if(trace.clocks, [&](const TraceClock& clock) {
    return clock.at < first - ClockWatch::usual_interval;
  });
  change_times(trace, [&](Time time) { return std::max(Time{}, time - first); });
}

/// Stops the session.
Trace trace_with_clocks(Session& session, const ClockRecord& clocks) {
  if (clocks.samples.empty()) return session.trace();
  const auto begin = clocks.samples.front().at;
  Trace trace = session.trace(begin);
  add_clocks(clocks, begin, trace);
  begin_with_first_event(trace);
  return trace;
}

}  // namespace

std::int64_t frames_of(const TraceOptions& options) {
  return options.file.empty() ? 0 : options.frames;
}

void write_trace(const TraceOptions& options, Session& session, const Loaded& loaded,
                 const ClockRecord& clocks) {
  if (options.file.empty()) return;
  const double time_scale = loaded.simulated.time_scale;
  Trace trace = trace_with_clocks(session, clocks);
  if (time_scale != 1)
    change_times(trace, [&](Time time) { return time_from_seconds(seconds(time) / time_scale); });
  write_chrome_trace(options.file, trace);
  loaded.context.note(
      fmt::format("written: {}, the last {} frames", options.file, trace.frames.size()));
}

}  // namespace millrace::runtime
