#pragma once
// What a group's budget means for its frames, once their times are known. docs/methods/events.md.
#include <optional>
#include <vector>

#include "deployment/deployment.h"
#include "realtime/event_model.h"

namespace millrace::deployment {

inline constexpr std::int64_t most_frames_of_a_budget = 1000;

/// Whole frames, each of which has the same part of the budget.
struct FrameBudget {
  realtime::ActivationLimit limit;
  /// What a frame may take of the processors together, at their highest clocks: at least its worst
  /// time, also if the budget is less than that; then the next one waits for several.
  Time frame{};
  double growth = 1;  // its tasks' worst times may grow in proportion up to that
  bool operator==(const FrameBudget&) const = default;
};

/// `every`: of the budget; `worst`: time of a frame's tasks together.
FrameBudget frame_budget(const system::Budget& budget, Time every, Time worst);
/// None: the group has none. At a level.
std::optional<FrameBudget> frame_budget(const Deployment& deployment, system::GroupId group,
                                        std::int64_t level);
/// The worst times of all tasks.
Time worst_frame(const Assignment& assignment);

/// What a frame may take at the clocks of each scenario and level, as slow as the slowest device is
/// there: by scenario times levels, and level. Empty: the group has no budget.
std::vector<Time> frame_allowances(const Deployment& deployment, const board::Board& board,
                                   system::GroupId group);

/// Of a flow with the group's events: what the analysis counts.
void limit_flow(realtime::Flow& flow, const system::Group& group, const FrameBudget& budget);
/// With worst times that are so much longer.
Task grown(Task task, double growth);

}  // namespace millrace::deployment
