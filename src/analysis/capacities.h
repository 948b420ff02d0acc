#pragma once
// How many slots the tensors of a plan need, from its own dataflow graph.
#include <optional>
#include <vector>

#include "dataflow/fraction.h"
#include "plan/evidence.h"

namespace millrace::analysis {

/// Slots that suffice for the plan's largest throughput, and how far they are proven smallest.
struct SlotSizing {
  std::vector<std::int64_t> capacities;  // by channel; the same for all channels of a tensor
  dataflow::Fraction period;             // of a frame, in nanoseconds; no capacities have a shorter
  Bytes total;                           // of all slots
  Bytes bound;  // no smaller total has this period; equal to `total`: proven smallest

  bool is_smallest() const { return total == bound; }
};

/// The smallest memory with which the plan, each phase taking its time (by stage, replica and
/// phase), is as fast as with slots without end. A slot for each frame of offset and one more is
/// the least that a plan may have. Takes milliseconds: of large plans the search may stop early,
/// always at the same point. Nothing if times are missing, or if nothing was found before the stop.
std::optional<SlotSizing> smallest_slots(const plan::Plan& plan, const network::Network& network,
                                         const plan::PhaseTimes& phase_times);

}  // namespace millrace::analysis
