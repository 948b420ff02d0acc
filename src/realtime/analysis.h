#pragma once
// Bounds of response times: busy windows on each resource, event models between them, repeated
// until nothing changes (compositional and holistic analysis).
#include <optional>
#include <string>
#include <vector>

#include "realtime/checked.h"  // unbounded
#include "realtime/no_bound.h"
#include "realtime/task_system.h"

namespace millrace::realtime {

/// What is known of the activations of a task that waits for another.
enum class Propagation {
  windows,              // the end of each job of a busy window: the tightest
  jitter_and_distance,  // jitter grows by worst - best response; ends are `best` apart
  jitter,               // the same without the distance
};

/// The equations of J. Kim's thesis (Seoul, 2023), for tasks on resources with fixed priorities
/// (4.1, 5.3) and on first-in-first-out resources (4.2, 5.4). They are unsafe;
/// docs/methods/realtime.md shows where.
enum class Equation { none, eq_4_1, eq_4_2, eq_5_3, eq_5_4 };

/// When paths are split by the time of their arrival at the next resource, which costs most.
enum class PathSplits { never, if_late, always };

struct AnalysisOptions {
  Propagation propagation = Propagation::windows;
  /// Tasks of one flow that wait for each other compete only if they belong to different
  /// activations. False: every task competes with every other.
  bool precedence = true;
  /// Events come at whole units of time, so that a job that blocks began a unit earlier.
  bool whole_ticks = false;
  Equation priorities = Equation::none, queues = Equation::none;
  /// `if_late`: only if a deadline may be missed otherwise.
  PathSplits splits = PathSplits::if_late;
  /// Event models that still change after so many rounds, or reach so many times the longest
  /// period, do not settle.
  int most_rounds = 1000;
  std::int64_t most_periods = 20;
};

/// `unbounded` stands for no bound.
struct TaskBound {
  Time response{};                  // from the task's activation to its end
  Time completion{};                // from when the flow's event was due
  Time best_completion{};           // at least
  EventModel activations;           // the task's own
  std::vector<Time> finishes = {};  // of the jobs of the worst busy window, from its begin
};

struct FlowBound {
  Time response{};    // from the flow's activation to the end of its last task
  Time completion{};  // from when its event was due
  Time path_sum{};    // the largest sum of the tasks' responses along a path
  Time best{};        // no response is shorter
  Time held{};        // of these: an activation waits so long at most for the flow's limit
};

struct Bounds {
  std::vector<TaskBound> tasks;  // by TaskId
  std::vector<FlowBound> flows;  // by FlowId
  int rounds = 0;
  /// By FlowId: why those have no bound that have none.
  std::vector<std::optional<NoBound>> reasons = {};
  /// Why event models do not settle: the tasks whose activations make each other's later, and
  /// where. Empty: they do.
  std::vector<TaskId> unsettled = {};
};

/// InputError as check() throws it, or if a time does not fit into 64 bits.
Bounds analyse(const TaskSystem& system, const AnalysisOptions& options = {});

/// What the flow's deadline counts: its response or its completion.
Time judged(const Flow& flow, const FlowBound& bound);
/// Whether every flow and every task with a deadline of its own keeps it.
bool is_schedulable(const TaskSystem& system, const Bounds& bounds);
/// The same without bounds: ends as soon as one is beyond its deadline.
bool keeps_deadlines(const TaskSystem& system, const AnalysisOptions& options = {});

/// "the activations of 'a' on 'cpu' and 'b' on 'bus' make each other later without end".
std::string unsettled_text(const TaskSystem& system, const Bounds& bounds);

}  // namespace millrace::realtime
