#pragma once
// How good a configuration is by simulation: exact for the profile's times, in milliseconds.
#include "explore/configuration/configuration.h"

namespace millrace::explore {

/// Precondition: it is feasible.
Score simulated_score(const Ground& ground, const Configuration& configuration);

/// One after the other. `ground` is borrowed.
Objective simulated_objective(const Ground& ground);

}  // namespace millrace::explore
