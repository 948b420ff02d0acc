#pragma once
// The largest throughput of a plan, computed from its own dataflow graph.
#include <optional>
#include <vector>

#include "plan/evidence.h"

namespace millrace::analysis {

/// The time between two frames in the periodic regime of the plan's CSDF graph, each phase taking
/// its time. At least the slowest stage; more where offsets or capacities are too
/// small for stages not to wait for each other. Nothing if the graph is not live.
std::optional<Time> period_bound(const plan::Plan& plan, const network::Network& network,
                                 const plan::PhaseTimes& phase_times);

/// The shortest time between two frames that may be seen: that, but with first-free replicas
/// (plan::is_first_free), which wait for no frames of their own, the one at which all of them work
/// as fast as they can. Zero if a time is unknown.
std::optional<Time> shortest_period(const plan::Plan& plan, const network::Network& network,
                                    const plan::PhaseTimes& phase_times);

/// Period of first-free replicas with the plan's slots: results leave in order. While the slowest
/// is at its frame, the others fill the slots and then wait for it. Zero if a time is unknown.
Time period_of_copies(const plan::Plan& plan, const plan::PhaseTimes& phase_times);

/// The longest time from a frame's submission to its last result, by the same graph, of frames that
/// come one `period` apart: with the waiting for other frames of a batch. Callers that keep the
/// pipeline full see what frames wait in front of it too. Nothing if the graph is not live, or no
/// frame goes from the caller to the caller.
std::optional<Time> latency_bound(const plan::Plan& plan, const network::Network& network,
                                  const plan::PhaseTimes& phase_times, Time period);

/// So many frames on their way keep all stages busy at these times: those that the longest latency
/// at the plan's pace lasts, and one for each replica of each stage, for the jitter of real
/// stages; with first-free replicas, those that all do while the slowest does one, and as many for
/// jitter. More make latency longer and nothing faster. 0 if a time is unknown, or the graph is not
/// live.
std::int64_t enough_in_flight(const plan::Plan& plan, const network::Network& network,
                              const plan::PhaseTimes& phase_times);

}  // namespace millrace::analysis
