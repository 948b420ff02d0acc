#pragma once
// When something is activated: every period, late by up to a jitter, never closer than a distance.
// And a server that holds activations back.
#include <cstdint>

#include "base/units.h"

namespace millrace::realtime {

/// Event n is due at n * period and comes within `jitter` after that, in order (Richter 2004).
/// Sporadic: `period` is the least time between two events that are due. Bursts: `burst` events,
/// `burst_distance` apart, are due each period.
struct EventModel {
  Time period{1};
  Time jitter{};
  Time min_distance{};  // between two events that come
  bool sporadic = false;
  std::int64_t burst = 1;
  Time burst_distance{};

  bool operator==(const EventModel&) const = default;

  /// The least time from the first to the last of `count` events that are due; count >= 1.
  Time due_distance(std::int64_t count) const;
  /// The same of events that come: delta-minus.
  Time distance(std::int64_t count) const;
  /// The most events in a window that contains its begin and not its end: eta-plus.
  std::int64_t events_within(Time width) const;
  /// The same if it contains its end as well.
  std::int64_t events_up_to(Time width) const { return events_within(width + Time{1}); }
};

/// In any window of `every`, its begin included and its end not, at most `events` activations
/// begin. More wait in order, no longer than they have to: a sporadic server (Sprunt, Sha, Lehoczky
/// 1989) that begins no activation for which it has too little left.
struct ActivationLimit {
  std::int64_t events = 1;
  Time every{1};
  bool operator==(const ActivationLimit&) const = default;
};

/// All that the limit lets begin, whatever comes.
EventModel limited_events(const ActivationLimit& limit);

/// So long an activation waits at most if they come as the model says; `unbounded` if more come in
/// the long run than the limit allows. Le Boudec and Thiran 2001, on greedy shapers: their delay.
Time longest_hold(const EventModel& events, const ActivationLimit& limit);

/// What of such events begins. A greedy shaper keeps what bounds its input (Le Boudec and Thiran).
EventModel held_events(const EventModel& events, const ActivationLimit& limit);

}  // namespace millrace::realtime
