#pragma once
// Cause-effect chains: flows of different periods, each of which reads what the one before has
// written. How long a change needs to its end, and how old what comes out is.
#include <optional>
#include <span>

#include "base/units.h"
#include "realtime/event_model.h"

namespace millrace::realtime {

/// A flow of a chain. Its jobs read when they begin, and write when they end, in order.
struct ChainPart {
  std::optional<Time> gap;  // between two activations, the longest; none: there may be no next one
  Time response{};          // the largest, from the activation
};

struct ChainBounds {
  /// From a change, just after the first flow was activated, to the end of the first job of the
  /// last one that knows it. None: no bound.
  std::optional<Time> reaction = {};
  /// From the activation of the first flow to the end of each job of the last one that uses what it
  /// saw then, even again and again. None: no bound.
  std::optional<Time> age = {};
};

/// Readers take the newest value, which stays until the next one, or all values in order, if they
/// are activated at least as often as those are written. Each part waits for the next activation,
/// and then for its response: reaction = sum of gap + response, and age without the last gap
/// (Davare et al., "Period optimization for hard real-time distributed automotive systems", DAC
/// 2007). Precondition: a part at least.
ChainBounds chain_bounds(std::span<const ChainPart> parts);

/// Between two events that come.
std::optional<Time> longest_gap(const EventModel& events);

}  // namespace millrace::realtime
