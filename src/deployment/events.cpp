#include "deployment/events.h"

#include <algorithm>

namespace millrace::deployment {

realtime::EventModel event_model(const system::Events& events, Time period) {
  realtime::EventModel model;
  model.period = period * events.burst;
  model.jitter = events.jitter;
  model.sporadic = events.sporadic || events.aperiodic;
  model.burst = events.burst;
  model.burst_distance = std::min(events.burst_distance, period);
  model.min_distance =
      std::min(events.min_distance, events.burst > 1 ? model.burst_distance : period);
  return model;
}

realtime::EventModel events_of(const system::System& system, system::GroupId group,
                               std::int64_t level) {
  return event_model(system[group].events, period_of(system, group, level));
}

std::int64_t frames_within_deadline(const system::System& system, system::GroupId group,
                                    std::int64_t level) {
  if (system[group].events.aperiodic) return 1;
  return events_of(system, group, level).events_within(deadline_of(system, group, level));
}

}  // namespace millrace::deployment
