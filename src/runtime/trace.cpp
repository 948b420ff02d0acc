#include "runtime/trace.h"

#include <algorithm>

namespace millrace::runtime {
namespace {

/// A wait is seen in a trace if it is as long as this; between phases that follow each other at
/// once only their hand-over passes.
constexpr Time shortest_wait = std::chrono::microseconds(1);

struct StageFiring {
  std::size_t stage = 0;
  Firing firing;
};

/// In the order in which they ended; without those of frames before the first.
std::vector<StageFiring> firings_from(const Pipeline& pipeline, std::int64_t first) {
  std::vector<StageFiring> all;
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s)
    for (const Firing& firing : pipeline.stages[s]->firings.in_order())
      if (firing.frame + firing.count > first) all.push_back({s, firing});
  std::stable_sort(all.begin(), all.end(), [](const StageFiring& a, const StageFiring& b) {
    return a.firing.ended < b.firing.ended;
  });
  return all;
}

Clock::time_point begin_of(const std::vector<StageFiring>& firings,
                           const std::vector<TakenFrame>& taken) {
  auto begin = Clock::time_point::max();
  for (const StageFiring& each : firings) begin = std::min(begin, each.firing.started);
  for (const TakenFrame& frame : taken) begin = std::min(begin, frame.submitted);
  return begin;
}

}  // namespace

Trace trace_of(const std::string& name, const Pipeline& pipeline,
               const std::vector<TakenFrame>& taken) {
  const auto firings = firings_from(pipeline, taken.empty() ? 0 : taken.front().frame);
  const Clock::time_point begin = begin_of(firings, taken);
  const auto at = [&](Clock::time_point moment) { return Time(std::max(moment, begin) - begin); };
  Trace trace;
  trace.plans = {name};
  for (const auto& stage : pipeline.stages)
    trace.stages.push_back({0, stage->name, stage->processor.name});
  for (const auto& [stage, f] : firings) {
    trace.firings.push_back({stage, f.phase, f.frame, f.count, at(f.started), at(f.ended)});
    if (at(f.started) - at(f.waited_from) >= shortest_wait)
      trace.waits.push_back({stage, at(f.waited_from), at(f.started)});
  }
  std::stable_sort(trace.waits.begin(), trace.waits.end(),
                   [](const TraceWait& a, const TraceWait& b) { return a.stage < b.stage; });
  for (const TakenFrame& frame : taken)
    trace.frames.push_back(
        {0, frame.frame, at(frame.submitted), at(frame.submitted), at(frame.completed)});
  return trace;
}

}  // namespace millrace::runtime
