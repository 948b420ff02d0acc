#include "simulate/releases.h"

#include <algorithm>
#include <cmath>

namespace millrace::simulate {

Releases::Releases(const Release& release, std::uint64_t seed) : release_(release), random_(seed) {
  if (release_.arrivals == Arrivals::poisson) nominal_ = drawn();
  next_ = release_.arrivals == Arrivals::periodic ? drawn() : nominal_;
}

/// Frames keep their order even if the jitter exceeds the period.
void Releases::advance() {
  switch (release_.arrivals) {
    case Arrivals::closed:
      return;
    case Arrivals::periodic:
      nominal_ += release_.period;
      next_ = std::max(next_, nominal_ + drawn());
      return;
    case Arrivals::poisson:
      next_ += drawn();
      return;
  }
}

/// The jitter of a periodic frame, or the time between two frames.
Time Releases::drawn() {
  if (release_.arrivals == Arrivals::poisson)
    return time_from_seconds(-std::log1p(-random_.unit()) * seconds(release_.period));
  return Time(static_cast<std::int64_t>(
      random_.below(static_cast<std::uint64_t>(release_.jitter.count()) + 1)));
}

}  // namespace millrace::simulate
