#pragma once
// How long frames wait in each channel of a pipeline, from the trace of a run.
#include <string>
#include <vector>

#include "base/trace.h"
#include "plan/plan.h"

namespace millrace::analysis {

/// Between the phase that makes a frame's tensor and the one that reads it; "input" and "output"
/// are the caller. Channels between the same two phases are one.
struct ChannelWait {
  std::string from, to;     // "stage0, phase 1"; the phase only where a stage has several
  std::int64_t frames = 0;  // that were seen at both ends
  Time mean{}, longest{};
};

/// In the order of the plan's channels. Precondition: a trace of one run of this plan alone.
std::vector<ChannelWait> channel_waits(const plan::Plan& plan, const Trace& trace);

}  // namespace millrace::analysis
