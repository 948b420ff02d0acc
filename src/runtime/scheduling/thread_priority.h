#pragma once
// Real-time priorities of threads, as far as the system grants them.
#include <sched.h>

#include <thread>

#include "base/units.h"
#include "base/verdict.h"

namespace millrace::runtime {

/// Priorities of SCHED_FIFO, where a higher number is a higher priority.
inline constexpr int lowest_priority = 1, highest_priority = 99;

/// Whether this process may give threads this priority of SCHED_FIFO, or what allows it.
Verdict may_have_priority(int priority);

/// Gives the calling thread this priority of SCHED_FIFO, and timers that end in time. EngineError
/// if the system refuses.
void set_priority_of_this_thread(int priority);

/// Gives it SCHED_DEADLINE in place of that: so much of a core in each period, before all threads
/// of SCHED_FIFO. It must not be bound to a core. EngineError if the system refuses.
void set_deadline_of_this_thread(Time runtime, Time period);

/// The thread runs only where nobody else wants to.
void leave_cores_to_others(std::thread& thread);

/// The calling thread has this priority while it lives; 0: the one that it has.
class PriorityGuard {
 public:
  explicit PriorityGuard(int priority);
  ~PriorityGuard();
  PriorityGuard(const PriorityGuard&) = delete;
  PriorityGuard& operator=(const PriorityGuard&) = delete;

 private:
  bool is_changed_ = false;
  int policy_before_ = SCHED_OTHER;
  sched_param before_{};
};

/// What the calling thread has spent on a core so far, without the time that others took.
Time time_on_core();

/// How often the calling thread lost its core against its will.
long preemptions_of_this_thread();

}  // namespace millrace::runtime
