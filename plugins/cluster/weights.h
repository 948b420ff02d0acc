// Weights of a subnet on their way to a worker.
#pragma once
#include <cstdint>

#include "millrace/engine.h"
#include "worker_link.h"

namespace millrace_cluster {

/// Sends what is external, piece by piece, to the places that engine.h says, and keeps nothing of
/// it. The worker's file of weights; 0: nothing is external. WorkerFailure.
std::int64_t send_weights(WorkerLink& link, const MillraceSubnet& subnet);

}  // namespace millrace_cluster
