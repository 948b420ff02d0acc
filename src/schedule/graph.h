#pragma once
// A schedule as a timed CSDF graph.
#include "dataflow/graph.h"
#include "network/network.h"
#include "plan/evidence.h"
#include "schedule/schedule.h"

namespace millrace::schedule {

/// Actors have the schedule's numbers, phases are theirs, channels are bounded by their capacity,
/// initial tokens are the offsets between them. Times are the phases' (from `phase_times`, by actor
/// and phase) or zero. With `tokens_are_elements`, rates are numbers of tensor elements as in the
/// papers' equations; else frames. If there are batches, an actor has its phases once for every
/// cycle of a round: a phase with a batch takes and gives that many tokens, and takes its time, in
/// the last of so many cycles, and does nothing in the others. If there are replicas, the other
/// actors, the caller's too, have their phases once for every replica and pass tokens from and to
/// each in its turn.
struct GraphOptions {
  plan::PhaseTimes phase_times = {};
  bool tokens_are_elements = false;
  bool bounded = true;
  bool outside = true;  // the caller takes part as the actors "input" and "output" of zero time
};
dataflow::Graph csdf_graph(const Schedule& schedule, const network::Network& network,
                           const GraphOptions& options = {});
dataflow::Graph csdf_graph(const plan::Plan& plan, const network::Network& network,
                           const GraphOptions& options = {});

/// InputError naming who waits for whom if the plan's graph is not consistent or not live.
void check_live(const plan::Plan& plan, const network::Network& network);

}  // namespace millrace::schedule
