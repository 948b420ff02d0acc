#pragma once
// When something is activated: every period, late by up to a jitter, never closer than a distance.
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

}  // namespace millrace::realtime
