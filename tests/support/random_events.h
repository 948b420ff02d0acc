#pragma once
// Groups whose frames do not come each period, by chance.
#include <algorithm>

#include "base/random.h"
#include "system/system.h"

namespace millrace::test {

inline Time share_of(Random& random, Time most) {
  return most * static_cast<std::int64_t>(random.below(101)) / 100;
}

/// Events of a group with this period at its highest level. Jitter reaches half as long again.
inline system::Events random_events(Random& random, Time period) {
  system::Events events;
  events.sporadic = random.below(4) == 0;
  if (!events.sporadic && random.below(3) == 0) events.offset = share_of(random, 2 * period);
  if (random.below(2) == 0)
    events.jitter = share_of(random, random.below(3) == 0 ? 3 * period / 2 : period / 4);
  if (random.below(4) == 0) {
    events.burst = 2 + static_cast<std::int64_t>(random.below(3));
    events.burst_distance = share_of(random, random.below(2) == 0 ? period : period / 10);
  }
  if (random.below(3) == 0)
    events.min_distance = share_of(random, events.burst > 1 ? events.burst_distance : period);
  return events;
}

/// Gives events to two groups in three.
inline void give_random_events(system::System& system, Random& random) {
  for (std::size_t g = 0; g < system.groups.size(); ++g)
    if (random.below(3) > 0)
      system.groups[g].events =
          random_events(random, period_of(system, system::GroupId(g), system.levels - 1));
}

}  // namespace millrace::test
