#pragma once
// Several things measured interleaved: in rounds, in each of which every one has its turn, so that
// what slows the machine down for a while meets all of them.
#include <chrono>
#include <cstddef>

#include "base/units.h"

namespace millrace {

/// When rounds end.
struct RoundLimits {
  int most = 1;
  int least = 1;              // rounds, whatever time they take
  Time enough = Time::max();  // after so much time no further round begins

  bool reached(int rounds, Time spent) const {
    return rounds >= most || (rounds >= least && spent >= enough);
  }
};

/// Calls turn(which), for which = 0 ... count - 1, in each round, and after it
/// goes_on(rounds so far), which may end the rounds before their limits.
template <class Turn, class GoesOn>
void measure_interleaved(std::size_t count, const RoundLimits& limits, const Turn& turn,
                         const GoesOn& goes_on) {
  const auto start = std::chrono::steady_clock::now();
  int rounds = 0;
  do {
    for (std::size_t which = 0; which < count; ++which) turn(which);
    ++rounds;
  } while (goes_on(rounds) && !limits.reached(rounds, std::chrono::steady_clock::now() - start));
}

}  // namespace millrace
