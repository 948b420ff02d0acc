#pragma once
// K-periodic schedules (Bodin, Munier-Kordon, Dupont de Dinechin 2013 and 2016): of each actor's
// cycles, K begin at times of their own, and then all repeats at a fixed pace.
#include <vector>

#include "dataflow/component.h"
#include "dataflow/cycle_ratio.h"

namespace millrace::dataflow {

/// What the K-periodic schedules of a component have to obey. A node for each phase of each of the
/// K cycles of an actor.
struct PeriodicWaits {
  std::uint32_t nodes = 0;
  std::vector<std::uint32_t> first;  // per actor of the component: its first node
  std::vector<Wait> waits;
  std::int64_t grid = 1;  // a wait's tokens are in 1/grid rounds
};

/// periods: K per actor, each a divisor of the actor's cycles. Waits whose tokens are no multiple
/// of 1/grid are rounded down, to the safe side.
PeriodicWaits periodic_waits(const Graph& graph, const Component& component,
                             const std::vector<std::int64_t>& periods);

/// The K for which the cycle limits not only periodic schedules but every schedule; those already
/// large enough stay. Equal to `periods`: the cycle's ratio is the component's.
std::vector<std::int64_t> periods_for(const Component& component, const PeriodicWaits& waits,
                                      const std::vector<std::uint32_t>& cycle,
                                      const std::vector<std::int64_t>& periods);

}  // namespace millrace::dataflow
