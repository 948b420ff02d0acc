#include "runtime/controller/group_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::runtime {

void add_trace(Trace& all, const std::string& group, Trace trace) {
  const std::size_t plan = all.plans.size(), stage = all.stages.size();
  all.plans.push_back(group);
  for (TraceStage& each : trace.stages) {
    each.plan = plan;
    each.name = fmt::format("{} {}", group, each.name);
    all.stages.push_back(std::move(each));
  }
  for (TraceFiring& firing : trace.firings) {
    if (firing.end <= Time{}) continue;  // before the first frame that counts
    firing.stage += stage;
    all.firings.push_back(firing);
  }
  for (TraceFrame& frame : trace.frames) {
    if (frame.completed <= Time{}) continue;
    frame.plan = plan;
    all.frames.push_back(frame);
  }
  std::ranges::stable_sort(all.firings, {}, &TraceFiring::end);
  std::ranges::stable_sort(all.frames, {}, &TraceFrame::completed);
}

}  // namespace millrace::runtime
