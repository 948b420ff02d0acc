#pragma once
// Step 3 of chapter 4 of J. Kim's thesis: what was decided as a deployment, with a table of clocks
// for each scenario and rate; and why there is none.
#include <optional>
#include <string>
#include <vector>

#include "explore/system/combination.h"

namespace millrace::explore {

/// For each scenario and each level at which its deadlines hold: clocks, expected power, and bounds
/// by the task system of the deployment. `problem`: its clock search is used; its scenes and level
/// are not. `deployment`: its assignments are there.
std::vector<deployment::Setting> settings_of(const CombinationProblem& problem,
                                             const deployment::Deployment& deployment,
                                             const Combined& decided);

/// The plan's tasks and stages on these processors (by task, indices into the whole board).
deployment::Assignment placed_assignment(const GroupModel& model, const GroupPlan& plan,
                                         const std::vector<std::size_t>& processors);

/// Priorities of the groups: as given; the others are lower, the shorter the deadline the higher.
std::vector<std::int64_t> priorities_of(const system::System& system);

/// The longest path through the tasks' worst times.
Time alone_at_worst(const deployment::Assignment& assignment);

/// Empty; or that the controller's overhead leaves nothing of a group's deadline.
std::string too_long_overhead(const system::System& system);

/// Empty; or the same, or that a group's fastest plan takes longer than its deadline at the highest
/// level, even alone, and by how much.
std::string too_short_deadline(const CombinationProblem& problem);

/// "2.00 ms longer than its deadline of 5.00 ms; lower its rate": at the highest level.
std::string beyond_deadline_text(const system::System& system, system::GroupId group, Time by);

/// Why no deadline holds with this combination: scenario, group, by how much, and the resource that
/// has the most to do. Precondition: it is infeasible.
std::string why_infeasible(const CombinationProblem& problem, const Combined& nearest);

}  // namespace millrace::explore
