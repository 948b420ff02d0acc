#include "realtime/cause_effect.h"

#include <algorithm>

namespace millrace::realtime {

ChainBounds chain_bounds(std::span<const ChainPart> parts) {
  Time age = parts.back().response;
  for (const ChainPart& part : parts.first(parts.size() - 1)) {
    if (!part.gap) return {};
    age += *part.gap + part.response;
  }
  if (!parts.back().gap) return {std::nullopt, age};
  return {age + *parts.back().gap, age};
}

std::optional<Time> longest_gap(const EventModel& events) {
  if (events.sporadic) return std::nullopt;
  const Time between_bursts = events.period - events.burst_distance * (events.burst - 1);
  const Time due =
      events.burst > 1 ? std::max(between_bursts, events.burst_distance) : events.period;
  return std::max(due + events.jitter, events.min_distance);
}

}  // namespace millrace::realtime
