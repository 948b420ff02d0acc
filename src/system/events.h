#pragma once
// When the frames of a group come, beside their rate.
#include <cstdint>
#include <string>

#include "base/units.h"

namespace millrace::system {

inline constexpr int most_frames_of_a_burst = 1000;

struct Group;

/// A frame is due each period, or each burst of frames is, and comes within `jitter` after that.
/// Its deadline and response count from when it comes. Left as they are: periodic.
struct Events {
  Time jitter{};
  Time offset{};        // from the begin of a scenario to the first frame that is due
  Time min_distance{};  // between two frames that come
  bool sporadic = false;  // the period is the least time between two frames or bursts
  std::int64_t burst = 1;  // frames that are due together, as often as their rate allows
  Time burst_distance{};   // between two of them
  /// Frames come at any time, however close; the rate is that of many. One after the other is on
  /// its way, and deadline and response count from when it is released. Only with a Budget.
  bool aperiodic = false;
  bool operator==(const Events&) const = default;

  /// With or without an offset.
  bool is_periodic() const { return jitter == Time{} && !sporadic && burst == 1 && !aperiodic; }
};

/// InputError with the place: a distance that is longer than the period, a burst of no frames, a
/// sporadic group with an offset, an aperiodic one with anything else.
void check_events(const Group& group, Time shortest_period);

/// "jitter 2 ms, bursts of 3 frames, 5 ms apart"; periodic: empty.
std::string to_text(const Events& events);

}  // namespace millrace::system
