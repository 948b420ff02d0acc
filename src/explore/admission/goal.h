#pragma once
// What a choice of variants costs.
#include <vector>

#include "explore/admission/problem.h"

namespace millrace::explore {

/// What is to be as small as possible. In units, or in millijoules a second.
enum class AdmissionGoal {
  any,                // whatever fits
  total_utilisation,  // the paper's
  weighted,           // the same, each task times its weight
  energy,
  largest_load,  // of a unit
};

struct AdmissionOptions {
  AdmissionGoal goal = AdmissionGoal::total_utilisation;
  std::vector<double> weights = {};  // by task; of `weighted`
  double seconds = 60;               // on the wall's clock
};

/// Whether the goal is a sum of what each task costs where it is.
bool is_sum(AdmissionGoal goal);
/// What the task adds to such a sum on the processor; 0 for other goals.
double cost_of_task(const AdmissionProblem& problem, const AdmissionOptions& options,
                    std::size_t task, std::size_t processor);
/// What the goal is for a choice; 0 for `any`.
double cost_of(const AdmissionProblem& problem, const AdmissionOptions& options,
               const AdmissionChoice& choice);

}  // namespace millrace::explore
