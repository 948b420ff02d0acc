#pragma once
// Why a flow has no bound: which rule of the analysis gave up, at which task, because of whom.
#include <string>
#include <vector>

#include "realtime/task_system.h"

namespace millrace::realtime {

enum class NoBoundRule {
  overload,  // the task and what can delay it need more than the time of its resource
  window,    // they leave too little time for an end of the busy window
  growth,    // activations make each other later, beyond the longest time that is looked at
  rounds,    // they still do after the most rounds
  limit,     // more activations come than the flow's limit lets begin
};

struct NoBound {
  NoBoundRule rule = NoBoundRule::overload;
  /// The first is the flow's. Each waits for the next one, or can be delayed by it. At the last one
  /// the rule gave up; it may be of another flow.
  std::vector<TaskId> chain;
  /// For growth and rounds: each task's activations become later because of the next one, those of
  /// the last because of the first.
  std::vector<TaskId> circle = {};

  TaskId first() const { return chain.front(); }
  TaskId last() const { return chain.back(); }
  bool operator==(const NoBound&) const = default;
};

const char* to_text(NoBoundRule rule);

/// One sentence that names tasks and resources.
std::string no_bound_text(const TaskSystem& system, const NoBound& reason);

}  // namespace millrace::realtime
