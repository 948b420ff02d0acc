#pragma once
// Groups with a budget by chance.
#include <algorithm>

#include "base/random.h"
#include "deployment/budgets.h"

namespace millrace::test {

/// From a third of a frame to more than three frames; in less to more than a period.
inline system::Budget random_budget(Random& random, Time worst, Time period) {
  const auto percent = [&](std::int64_t least, std::uint64_t range) {
    return least + static_cast<std::int64_t>(random.below(range));
  };
  system::Budget budget{.time = std::max(Time{1}, worst * percent(30, 300) / 100)};
  if (random.below(2) == 0) budget.every = std::max(Time{1}, period * percent(20, 200) / 100);
  return budget;
}

/// Of one group in three; a third of these are aperiodic.
inline void give_random_budgets(deployment::Deployment& deployment, Random& random) {
  system::System& system = deployment.system;
  for (std::size_t g = 0; g < system.groups.size(); ++g) {
    if (random.below(3) > 0) continue;
    system::Group& group = system.groups[g];
    if (random.below(3) == 0) group.events = {.aperiodic = true};
    const Time period = period_of(system, system::GroupId(g), system.levels - 1);
    group.budget = random_budget(random, worst_frame(deployment.assignments[g]),
                                 period * group.events.burst);
  }
}

}  // namespace millrace::test
