#pragma once
// From what stages and callers noted to a trace.
#include <optional>
#include <string>
#include <vector>

#include "base/trace.h"
#include "runtime/pipeline.h"

namespace millrace::runtime {

/// A frame that the caller has taken.
struct TakenFrame {
  std::int64_t frame = 0;
  Clock::time_point submitted, completed;
};

struct TakenFrames {
  std::vector<TakenFrame> frames;  // in order
  std::optional<Clock::time_point> begin =
      {};  // from which the trace counts; none: its first event
};

/// Trace of these frames and those behind them. No stage runs any more.
Trace trace_of(const std::string& name, const Pipeline& pipeline, const TakenFrames& taken);

/// Firings that ended in the last `span`, while stages run.
Trace recent_of(const std::string& name, const Pipeline& pipeline, Time span);

}  // namespace millrace::runtime
