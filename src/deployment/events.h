#pragma once
// When the frames of a group come, as the analysis and the releases know it.
#include "realtime/event_model.h"
#include "system/system.h"

namespace millrace::deployment {

/// Event model of frames with this period on average. Distances that are longer than it, as rates
/// grew, are as long as it is.
realtime::EventModel event_model(const system::Events& events, Time period);
/// At a level. The offset is left out: bounds hold for all of them. Of an aperiodic group, whose
/// frames have no bound, as if they came no more often than its rate.
realtime::EventModel events_of(const system::System& system, system::GroupId group,
                               std::int64_t level);

/// So many frames may come before one that came with them has to be done; of an aperiodic group, so
/// many are released.
std::int64_t frames_within_deadline(const system::System& system, system::GroupId group,
                                    std::int64_t level);

}  // namespace millrace::deployment
