#pragma once
// Two networks that run for the same frames, as one search sees them.
#include <cstdint>
#include <utility>

#include "explore/mapping/problem.h"

namespace millrace::explore {

/// The layers of `first`, then those of `second`, which runs `runs` times for each frame: its times
/// and edges count so often. No edge leads from one to the other. Ends, slots and borders are those
/// of `first`: for the bottleneck, not for plans. Precondition: both have the same processors.
Problem joined(const Problem& first, const Problem& second, std::int64_t runs);

/// A mapping of joined layers as one of the first network and one of the second.
std::pair<plan::Mapping, plan::Mapping> separated(const plan::Mapping& mapping,
                                                  std::size_t layers_of_first);

}  // namespace millrace::explore
