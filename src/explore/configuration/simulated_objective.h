#pragma once
// How good a configuration is by simulation: exact for the profile's times, in milliseconds.
#include "explore/configuration/configuration.h"

namespace millrace::explore {

/// Precondition: it is feasible.
Score simulated_score(const SearchContext& context, const Configuration& configuration);

/// One after the other. `context` is borrowed.
Objective simulated_objective(const SearchContext& context);

}  // namespace millrace::explore
