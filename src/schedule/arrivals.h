#pragma once
// When the frames of one group come: drawn from their event model, or as they were recorded.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/random.h"
#include "deployment/events.h"

namespace millrace::schedule {

/// Draws jitter evenly from all that the model allows, distances of a sporadic group from one to
/// two periods, and those of an aperiodic one as of a Poisson process. Frames of a periodic group
/// without jitter come exactly each period. Allocates no memory.
class Arrivals {
 public:
  Arrivals() = default;
  /// Borrows what was recorded, ascending; empty: frames are drawn. Aperiodic: a model's period is
  /// the mean of their distances.
  Arrivals(std::uint64_t seed, std::span<const Time> recorded, bool is_aperiodic = false)
      : random_(seed), recorded_(recorded), is_aperiodic_(is_aperiodic) {}

  /// The first one, due at `from`, of those that the model allows.
  Time first(const realtime::EventModel& events, Time from);
  /// The frame after; Time::max(): none.
  Time next();
  /// The same if the last one had to wait until now.
  Time next_after_wait(Time now);

  bool is_recorded() const { return !recorded_.empty(); }
  /// The first recorded one from `from` on, of which the last that was given is one again; the
  /// record began at `begin`. `passed` grows by how many came before.
  Time first_recorded(Time begin, Time from, std::int64_t& passed);

 private:
  Time drawn(Time most);
  Time aperiodic_distance();
  Time recorded_at(std::size_t index) const;

  Random random_{1};
  realtime::EventModel events_;
  Time due_{}, comes_{};
  std::int64_t in_burst_ = 0;
  std::span<const Time> recorded_;
  bool is_aperiodic_ = false;
  std::size_t taken_ = 0;  // of those recorded: how many were given
  Time begin_{};
};

}  // namespace millrace::schedule
