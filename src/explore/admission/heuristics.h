#pragma once
// Choices for sets of tasks that are too large for the program, and to begin with.
#include <optional>

#include "explore/admission/program.h"

namespace millrace::explore {

/// The tasks with the largest of their least utilisations first, each on the processor that leaves
/// the largest load of its units least. What does not fit then takes the place of others that can
/// move. Nothing: it found no choice that fits, though there may be one.
std::optional<AdmissionChoice> first_fit_decreasing(const AdmissionProblem& problem);

}  // namespace millrace::explore
