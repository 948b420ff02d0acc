#include "system/events.h"

#include <fmt/format.h>

#include "base/error.h"
#include "system/system.h"

namespace millrace::system {
namespace {

void check_distance(const Group& group, const char* key, Time found, Time most) {
  if (found >= Time{} && found <= most) return;
  throw InputError(group.place,
                   fmt::format("group '{}' has a '{}' of {}, expected 0 to {}, the time between "
                               "two frames that are due",
                               group.name, key, millrace::to_text(found),
                               millrace::to_text(most)));
}

Events without_aperiodic(Events events) {
  events.aperiodic = false;
  return events;
}

}  // namespace

void check_events(const Group& group, Time shortest_period) {
  const Events& events = group.events;
  const auto fail = [&](const std::string& text) {
    throw InputError(group.place, fmt::format("group '{}' {}", group.name, text));
  };
  if (events.jitter < Time{} || events.offset < Time{})
    fail("has a jitter or an offset below 0, expected 0 or more");
  if (events.burst < 1 || events.burst > most_frames_of_a_burst)
    fail(fmt::format("has a burst of {} frames, expected 1 to {}", events.burst,
                     most_frames_of_a_burst));
  if (events.sporadic && events.offset > Time{})
    fail("is sporadic and has an 'offset_ms'; leave out one of the two, as sporadic frames may "
         "come at any time");
  if (const Events alone{.aperiodic = true}; events.aperiodic && events != alone)
    fail(fmt::format("is aperiodic and has {}; leave out one of the two, as aperiodic frames may "
                     "come at any time",
                     to_text(without_aperiodic(events))));
  check_distance(group, "burst_distance_ms", events.burst_distance, shortest_period);
  check_distance(group, "min_distance_ms", events.min_distance,
                 events.burst > 1 ? events.burst_distance : shortest_period);
}

std::string to_text(const Events& events) {
  std::string text;
  const auto add = [&](const std::string& part) {
    text += text.empty() ? part : ", " + part;
  };
  if (events.aperiodic) add("aperiodic");
  if (events.sporadic) add("sporadic");
  if (events.jitter > Time{}) add("jitter " + millrace::to_text(events.jitter));
  if (events.offset > Time{}) add("offset " + millrace::to_text(events.offset));
  if (events.burst > 1)
    add(fmt::format("bursts of {} frames, {} apart", events.burst,
                    millrace::to_text(events.burst_distance)));
  if (events.min_distance > Time{})
    add("at least " + millrace::to_text(events.min_distance) + " apart");
  return text;
}

}  // namespace millrace::system
