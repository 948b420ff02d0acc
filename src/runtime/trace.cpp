#include "runtime/trace.h"

#include <algorithm>

namespace millrace::runtime {
namespace {

/// A wait is seen in a trace if it is as long as this; between phases that follow each other at
/// once only their hand-over passes.
constexpr Time shortest_wait = std::chrono::microseconds(1);

struct StageFiring {
  std::size_t stage = 0;
  TimedFiring timed;
};

/// In the order in which they ended; without those of frames before the first.
std::vector<StageFiring> firings_from(const Pipeline& pipeline, std::int64_t first) {
  std::vector<StageFiring> all;
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s)
    for (const TimedFiring& timed : pipeline.stages[s]->firings.in_order())
      if (timed.firing.last() >= first) all.push_back({s, timed});
  std::stable_sort(all.begin(), all.end(), [](const StageFiring& a, const StageFiring& b) {
    return a.timed.ended < b.timed.ended;
  });
  return all;
}

Clock::time_point begin_of(const std::vector<StageFiring>& firings,
                           const std::vector<TakenFrame>& taken) {
  auto begin = Clock::time_point::max();
  for (const StageFiring& each : firings) begin = std::min(begin, each.timed.started);
  for (const TakenFrame& frame : taken) begin = std::min(begin, frame.submitted);
  return begin;
}

/// Without firings.
Trace trace_with_stages(const std::string& name, const Pipeline& pipeline) {
  Trace trace;
  trace.plans = {name};
  for (const auto& stage : pipeline.stages) trace.stages.push_back({0, stage->name, stage->lane});
  return trace;
}

}  // namespace

Trace trace_of(const std::string& name, const Pipeline& pipeline, const TakenFrames& taken) {
  const auto& frames = taken.frames;
  const auto firings = firings_from(pipeline, frames.empty() ? 0 : frames.front().frame);
  const Clock::time_point begin = taken.begin ? *taken.begin : begin_of(firings, frames);
  const auto at = [&](Clock::time_point moment) { return Time(std::max(moment, begin) - begin); };
  Trace trace = trace_with_stages(name, pipeline);
  for (const auto& [stage, timed] : firings) {
    const auto& [phase, frame, count, step] = timed.firing;
    trace.firings.push_back({stage, phase, frame, count, at(timed.started), at(timed.ended), step});
    if (at(timed.started) - at(timed.waited_from) >= shortest_wait)
      trace.waits.push_back({stage, at(timed.waited_from), at(timed.started)});
  }
  std::stable_sort(trace.waits.begin(), trace.waits.end(),
                   [](const TraceWait& a, const TraceWait& b) { return a.stage < b.stage; });
  for (const TakenFrame& frame : frames)
    trace.frames.push_back(
        {0, frame.frame, at(frame.submitted), at(frame.submitted), at(frame.completed)});
  return trace;
}

Trace recent_of(const std::string& name, const Pipeline& pipeline, Time span) {
  const Clock::time_point begin = Clock::now() - span;
  const auto at = [&](Clock::time_point moment) { return Time(std::max(moment, begin) - begin); };
  Trace trace = trace_with_stages(name, pipeline);
  for (const auto& [stage, timed] : firings_from(pipeline, 0)) {
    const auto& [phase, frame, count, step] = timed.firing;
    if (timed.ended > begin)
      trace.firings.push_back(
          {stage, phase, frame, count, at(timed.started), at(timed.ended), step});
  }
  return trace;
}

}  // namespace millrace::runtime
