#pragma once
// A frame by itself in an idle pipeline.
#include <vector>

#include "plan/evidence.h"

namespace millrace::analysis {

/// From the frame's start to the last of its results: each stage runs its phases in the order of
/// the plan's graph, each as soon as its inputs are there, as the runtime does. Times by stage,
/// replica and phase. Precondition: the plan has passed check().
Time latency_alone(const plan::Plan& plan, const plan::PhaseTimes& phase_times);

}  // namespace millrace::analysis
