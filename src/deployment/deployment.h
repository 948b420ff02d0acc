#pragma once
// The decision for a system: plans, processors, priorities, and clocks by scenario and rate.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "board/board.h"
#include "plan/plan_file.h"
#include "realtime/task_system.h"
#include "system/system.h"

namespace millrace::deployment {

enum class Step { preprocess, phase, postprocess, task };  // task: of the group's graph

/// What a processor executes of a frame in one piece. All times are those at the highest clock of
/// the processor's device.
struct Task {
  /// "pre", "stage0", "stage0.1" of a second phase, "post"; of the graph "blur", "blur.1" of a
  /// second firing.
  std::string name;
  Step step = Step::phase;
  std::size_t stage = 0, phase = 0;  // of the plan
  std::size_t node = 0;              // of the graph
  std::int64_t firing = 0;           // in an iteration
  std::string processor;
  Time worst{}, average{}, best{};
  std::vector<Time> kernels = {};       // worst times, in order; their sum is `worst`; none: one
  std::vector<std::size_t> after = {};  // tasks of the group that end first; none: activated
  /// What its processor draws in addition while it runs; none: as the board says.
  std::optional<board::Milliwatts> busy = {};
  bool operator==(const Task&) const = default;
};

/// How a group runs.
struct Assignment {
  std::vector<Task> tasks;
  std::int64_t priority = 0;  // a higher number is a higher priority; of cores only
  plan::PlanFile plan = {};   // of its network, if it has one
  bool operator==(const Assignment&) const = default;
};

/// By the device's name. A device that is not in it has its highest clock.
using Clocks = std::map<std::string, board::Megahertz>;

/// What holds in a scenario at a level.
struct Setting {
  system::ScenarioId scenario;
  std::int64_t level = 0;
  Clocks clocks;
  double power_mw = 0;                      // expected; 0: unknown
  std::vector<std::optional<Time>> bounds;  // of response times, by GroupId; none: not active
  bool operator==(const Setting&) const = default;
};

/// Under which load the tasks' times were measured.
enum class Contention { alone, beside_others, modelled };

struct Deployment {
  system::System system;
  std::string board_name, board_hash;
  std::vector<Assignment> assignments;  // by GroupId
  std::vector<Setting> settings;        // by scenario, then by level; one for each that is feasible
  Contention contention = Contention::modelled;
  std::string method = {};  // that found it
  bool operator==(const Deployment&) const = default;
};

/// At a scenario and a level, with these clocks.
struct Operation {
  system::ScenarioId scenario;
  std::int64_t level = 0;
  Clocks clocks = {};
};

/// By how much times are longer than at the highest clock. InputError if it has no such clock.
double slowdown(const board::Device& device, const Clocks& clocks);

/// So many times as long, rounded up.
Time stretched(Time time, double slowdown);
/// Scheduling policy of a device's processors; null: a core of a board that says nothing of it.
realtime::SchedulingPolicy policy_of(const board::Device* device);

/// The tasks of the groups that are active, "group.task", on the board's processors: a flow for
/// each, in their order, with its deadline less the overhead; behind them those of releases.h, if
/// the system has a cost of a release, on cores. Times grow as clocks fall, in proportion, rounded
/// up. Frames of a group with a budget take all of it. InputError if the board lacks a processor or
/// a clock.
realtime::TaskSystem task_system(const Deployment& deployment, const board::Board& board,
                                 const Operation& operation);

/// The setting of the scenario at the slowest level that is at least as fast as asked, by its
/// share of the range; null if there is none.
const Setting* setting_for(const Deployment& deployment, system::ScenarioId scenario,
                           std::int64_t level);

/// Whether a frame may come before the one before it has to be done. Then no stage may have several
/// phases: it does not begin a frame before it has done all of the last one, for which no bound
/// counts.
bool frames_may_overlap(const system::System& system, system::GroupId group);
bool has_stage_of_several_phases(const Assignment& assignment);

/// Gives the channels of the plans space for all frames that deadlines let be on their way, up to
/// a thousand.
void make_space(Deployment& deployment);

/// InputError if the parts do not fit together: a group without assignment, times that are not in
/// the order best, average, worst, kernels that do not add up, tasks that are not those of the plan
/// and of the steps beside it, a second setting of a scenario and level, a bound of a group that is
/// not active.
void check(const Deployment& deployment);
/// The same, and that the board has each processor and each clock, room for the subnets of all
/// groups (Limits::subnets and subnets_together), and cores for pre- and post-processing.
void check(const Deployment& deployment, const board::Board& board);
/// Empty if the deployment was made for this board; else a sentence that says so.
std::string another_board(const Deployment& deployment, const board::Board& board);

const char* to_text(Contention contention);

}  // namespace millrace::deployment
