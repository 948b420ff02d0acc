#pragma once
// Task systems by chance: up to four flows on up to three resources, every policy.
#include "base/random.h"
#include "realtime/task_system.h"

namespace millrace::realtime {

struct RandomSystemOptions {
  double utilisation = 0.6;                     // of each resource that has tasks
  std::optional<SchedulingPolicy> policy = {};  // none: by chance for each resource
  /// Flows return to resources they have used, jitter reaches two periods, tasks have offsets.
  /// False: each task of a flow is on another resource, and jitter is at most half a period.
  bool is_wild = true;
};

TaskSystem random_system(Random& random, const RandomSystemOptions& options);

}  // namespace millrace::realtime
