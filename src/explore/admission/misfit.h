#pragma once
// Why a set of tasks does not fit, and what would help.
#include <optional>
#include <string>
#include <vector>

#include "explore/admission/program.h"

namespace millrace::explore {

/// What makes a set fit that did not. Each alone is enough.
struct Remedy {
  enum class Kind { longer_period, faster, another_unit };
  Kind kind = Kind::longer_period;
  std::size_t subject = 0;  // a task or, of `another_unit`, a unit
  Time period{};            // of `longer_period`: the shortest that fits, within a thousandth
  double factor = 1;        // of `faster`: all times of the task by this, rounded likewise
};

struct Misfit {
  std::vector<std::size_t> tasks;  // do not fit together; without any one of them the rest does
  std::vector<Remedy> remedies;  // of these tasks; none: no single change of these kinds is enough
  bool is_proven = true;         // else time ran out for some set, which was taken to fit
};

/// Precondition: check() passes. Nothing: it fits, or whether it does is not known.
std::optional<Misfit> misfit_of(const AdmissionProblem& problem,
                                const AdmissionOptions& options = {});

/// "one more 'dla'; 'front' every 40 ms or more, not 33 ms; 'front' 1.3 times faster".
std::string remedies_text(const AdmissionProblem& problem, const std::vector<Remedy>& remedies);

}  // namespace millrace::explore
