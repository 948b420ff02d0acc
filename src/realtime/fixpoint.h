#pragma once
// Inside the room: the state of an analysis, and one task's step.
#include <optional>
#include <vector>

#include "realtime/analysis.h"
#include "realtime/busy_window.h"
#include "realtime/path_bound.h"
#include "realtime/structure.h"
#include "realtime/visit_window.h"

namespace millrace::realtime {

/// What is known of a task; times only grow from round to round.
struct TaskState {
  Time earliest{};               // activation since the event was due, at least
  Time latest{};                 // the same, at most
  Time since_source{};           // activation since the flow's, at most
  Time earliest_since_source{};  // the same, at least
  EventModel arrivals;
  WindowBound window;
  Time completion{};    // since the event was due, at most
  Time done{};          // since the flow's activation, at most
  Time end_distance{};  // between two ends
  bool endless = false;

  bool operator==(const TaskState& other) const {
    return latest == other.latest && since_source == other.since_source &&
           arrivals == other.arrivals && window.response == other.window.response &&
           completion == other.completion && done == other.done &&
           end_distance == other.end_distance && endless == other.endless;
  }
};

/// Why a task has no bound, as it was when that was found first. `by`: the task that it waits for
/// or that can delay it, which had none before; invalid: the rule gave up at this task.
struct EndlessCause {
  NoBoundRule rule = NoBoundRule::overload;
  TaskId by;
};

class Fixpoint {
 public:
  /// A task that may be activated after the horizon counts as one without bound.
  Fixpoint(const TaskSystem& system, const AnalysisOptions& options, Time horizon);

  /// One step for each task; whether something changed. `changed` names whose.
  bool round(std::vector<bool>& changed);

  /// Whether a task may be activated after the horizon, though those before it had bounds.
  bool has_passed_horizon() const { return has_passed_horizon_; }
  const Structure& structure() const { return structure_; }
  const TaskState& state(TaskId task) const { return states_[task.index]; }
  /// Nothing for a task that has a bound.
  const std::optional<EndlessCause>& cause(TaskId task) const { return causes_[task.index]; }

 private:
  void prepare(TaskId task);
  bool step(TaskId task);
  WindowBound window_of(LocalView& view, const EventModel& events) const;
  void activate(TaskId task, TaskState& state) const;
  void finish(TaskId task, TaskState& state);
  void undercut(TaskId task, TaskState& state);
  void update_view(TaskId task, const TaskState& state);
  void update_same_flow(TaskId task, const TaskState& state, TaskId other,
                        SameFlowJobs& jobs_of_flow) const;
  TaskId first_endless(TaskId task) const;
  EndlessCause cause_in_window(TaskId task) const;
  std::int64_t late_jobs(TaskId task, const TaskState& other, const TaskState& state) const;

  const TaskSystem& system_;
  const AnalysisOptions options_;
  const Structure structure_;
  std::vector<SuccessiveKernels> kernels_;
  std::vector<LocalView> views_;
  std::vector<std::vector<TaskId>> rivals_;
  std::vector<TaskState> states_;
  std::vector<std::optional<EndlessCause>> causes_;
  PathBounds paths_;
  VisitWindows visits_;
  const Time horizon_;
  bool has_passed_horizon_ = false;
};

}  // namespace millrace::realtime
