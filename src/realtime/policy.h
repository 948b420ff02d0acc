#pragma once
// Inside the room: what one resource's policy says of one task. The loops are in busy_window.h and
// analysis.h; a policy supplies `finish`.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "realtime/checked.h"
#include "realtime/task_system.h"

namespace millrace::realtime {

/// The largest time of n successive kernels of a task, whichever comes first; jobs follow each
/// other without end.
class SuccessiveKernels {
 public:
  explicit SuccessiveKernels(const Task& task);
  std::int64_t count() const { return static_cast<std::int64_t>(largest_.size()) - 1; }
  Time longest() const { return largest_[1]; }
  Time last() const { return last_; }
  Time of(std::int64_t kernels) const;

 private:
  std::vector<Time> largest_;  // by number of kernels, up to those of a job
  Time last_;
};

/// Which jobs of a task of the same flow can be ready together with a job of the task: those of
/// earlier activations that are late, of the same one, and of later ones that come early.
struct SameFlowJobs {
  bool same_flow = false;
  const EventModel* events = nullptr;  // of the flow
  std::int64_t earlier = 0, same = 0;
  std::optional<Time> lead = {};  // the next activations may come so long before the task's job

  /// `rest`: from the arrival of the task's job to the end of what is looked at.
  std::int64_t most_jobs(Time rest) const {
    if (!same_flow) return std::numeric_limits<std::int64_t>::max();
    const std::int64_t later =
        lead ? std::max<std::int64_t>(1, events->events_within(rest + *lead)) - 1 : 0;
    return earlier + same + later;
  }
};

/// Another task on the resource.
struct InterferingTask {
  const Task* task = nullptr;
  const SuccessiveKernels* kernels = nullptr;
  EventModel arrivals = {};
  Time deadline{};       // for EDF
  Time response{};       // its bound so far; `unbounded`: none
  bool endless = false;  // its arrivals have no bound
  bool same_flow = false;
  SameFlowJobs jobs_of_flow = {};
};

/// A task as its resource sees it.
struct LocalView {
  TaskId id;
  const Resource* resource = nullptr;
  const Task* task = nullptr;
  const SuccessiveKernels* kernels = nullptr;
  EventModel arrivals = {};
  bool shares_flow = false;           // a interferer is of the same flow
  std::int64_t most_pending = 0;  // of the task's own jobs, if it shares its flow
  Time deadline{};
  bool whole_ticks = false;  // blocking begins at least a tick before the blocked job comes
  std::vector<InterferingTask> interferers = {};
  Time window{};                 // the length of the longest busy window, once it is known
  bool keeps_flow_busy = false;  // the flow has other work until the job arrives
  /// How long a interferer that cannot be interrupted for `length` may keep the task waiting.
  Time blocked_for(Time length) const {
    return whole_ticks && length > Time{} ? length - Time{1} : length;
  }
};

struct PolicyRule {
  /// The latest end of a job that arrives `arrival` after the begin of a busy window, as the
  /// `job`-th that is ready by then; from that begin. `unbounded` if there is none.
  Time (*finish)(const LocalView& view, std::int64_t job, Time arrival);
  /// Whether the interferer's jobs can come before a job of the task.
  bool (*competes)(const LocalView& view, const InterferingTask& interferer);
  /// By what is no competing job, at the begin of a busy window.
  Time (*blocking)(const LocalView& view);
  /// If interferers that arrive later than a job come after it: such arrivals are those of the
  /// interferers, shifted by this. Null: all interferers that arrive before its end count.
  Time (*shift)(const LocalView& view, const InterferingTask& interferer);
  bool ends_with_backlog;  // the window ends as soon as no job of the task is left
  bool needs_window;       // `finish` or the loop asks for the length of the longest window
  bool from_own_arrival;   // the window begins when a job of the task arrives
};

const PolicyRule& rule_of(SchedulingPolicy policy);

/// The smallest time at which demand(time) == time, from `start` on; `unbounded` if it lies beyond
/// the longest window. `demand` does not decrease.
template <class Demand>
Time least_fixpoint(Time start, const Demand& demand) {
  constexpr int most_steps = 1'000'000;
  Time time = start;
  for (int step = 0; step < most_steps; ++step) {
    const Time next = demand(time);
    if (next <= time) return time;
    if (next > longest_window) return unbounded;
    time = next;
  }
  return unbounded;
}

}  // namespace millrace::realtime
