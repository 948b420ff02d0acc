#pragma once
// Times of firings as a trace has them, to simulate with: what varies in a simulation is then what
// varied where the trace was taken.
#include <string>
#include <vector>

#include "base/trace.h"
#include "simulate/simulate.h"

namespace millrace::simulate {

/// The plan's firings in the trace, a real run's or a simulated one's. InputError if the trace is
/// of another plan, or too short: every phase must have fired, on one of its processor's streams.
Recording recording_of(const Trace& trace, const plan::Plan& plan);

/// On a full batch of each phase, on the average.
plan::ByPhase<Duration> mean_durations(const Recording& recording, const plan::Plan& plan);

/// What came of the plan's frames in the trace: latencies of all, and the rate of the full rounds
/// behind the first, since frames leave several at once. InputError if there is none.
ApplicationResult result_of(const Trace& trace, const plan::Plan& plan);

struct Recorded {
  Recording firings;
  plan::ByPhase<Duration> means;  // on a full batch
  ApplicationResult result;       // what came of the frames
};

/// All of it, of a trace's file. InputError naming the file if it is no trace, or as above.
Recorded read_recorded(const std::string& file, const plan::Plan& plan);

}  // namespace millrace::simulate
