#pragma once
// What follows from the measurements of an application's bench.
#include <string>
#include <vector>

#include "application/bench/bench.h"

namespace millrace::application {

/// The part of the time in which somebody works, or is kept from it by others on the same core.
struct Share {
  std::string who, where;
  double busy = 0;
};

/// Shares of the plan's stages, then of processing, over all rounds.
std::vector<Share> shares_of(const ApplicationResult& result);
/// The number of the busiest. Precondition: there is one.
std::size_t busiest_of(const std::vector<Share>& shares);

/// Time for one frame, if all frames together took `sum`.
Time per_frame(const Totals& totals, Time sum);
/// Energy of the machine for one frame; nothing if it was not measured.
std::optional<double> millijoules(const ApplicationRound& round);

}  // namespace millrace::application
