#include "realtime/event_model.h"

#include <algorithm>
#include <numeric>

#include "realtime/checked.h"

namespace millrace::realtime {

Time EventModel::due_distance(std::int64_t count) const {
  const std::int64_t before = count - 1;
  return plus(times(period, before / burst), times(burst_distance, before % burst));
}

Time EventModel::distance(std::int64_t count) const {
  if (count <= 1) return Time{};
  return std::max({Time{}, due_distance(count) - jitter, times(min_distance, count - 1)});
}

std::int64_t EventModel::events_within(Time width) const {
  if (width <= Time{}) return 0;
  const Time due = plus(width, jitter);
  std::int64_t count = ceiling(due, period);
  if (burst > 1) {
    const Time rest = due - times(period, count - 1);
    const std::int64_t last =
        burst_distance > Time{} ? std::min(burst, ceiling(rest, burst_distance)) : burst;
    count = (count - 1) * burst + last;
  }
  if (min_distance > Time{}) count = std::min(count, ceiling(width, min_distance));
  return count;
}

namespace {

bool is_above(const EventModel& events, const ActivationLimit& limit) {
  return static_cast<__int128>(events.burst) * limit.every.count() >
         static_cast<__int128>(limit.events) * events.period.count();
}

}  // namespace

EventModel limited_events(const ActivationLimit& limit) {
  EventModel events;
  events.period = limit.every;
  events.sporadic = true;
  events.burst = limit.events;
  return events;
}

/// Activation k begins when it comes, or `every` after activation k - events, whichever is later.
/// So it waits for j such steps less the time in which these activations came.
Time longest_hold(const EventModel& events, const ActivationLimit& limit) {
  if (limit.every <= times(events.min_distance, limit.events)) return {};
  if (is_above(events, limit)) return unbounded;
  constexpr std::int64_t most_steps = 1'000'000;
  const std::int64_t repeats = events.burst / std::gcd(limit.events, events.burst);
  Time longest{};
  // Without jitter and distance, each `repeats` steps waits grow no more.
  for (std::int64_t j = 1, since = 0; since < repeats; ++j) {
    if (j > most_steps) return unbounded;
    const std::int64_t count = j * limit.events + 1;
    const Time served = times(limit.every, j);
    longest = std::max(longest, served - events.distance(count));
    const bool may_grow = served - (events.due_distance(count) - events.jitter) > longest;
    since = may_grow ? 0 : since + 1;
  }
  return longest;
}

EventModel held_events(const EventModel& events, const ActivationLimit& limit) {
  EventModel held = events;
  held.sporadic = events.sporadic || longest_hold(events, limit) > Time{};
  return held;
}

}  // namespace millrace::realtime
