#pragma once
// From what stages and callers noted to a trace.
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

/// Of these frames and those behind them. No stage runs any more.
Trace trace_of(const std::string& name, const Pipeline& pipeline,
               const std::vector<TakenFrame>& taken);

}  // namespace millrace::runtime
