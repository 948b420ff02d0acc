#include "explore/admission/goal.h"

#include <algorithm>

namespace millrace::explore {

bool is_sum(AdmissionGoal goal) {
  return goal != AdmissionGoal::any && goal != AdmissionGoal::largest_load;
}

double cost_of_task(const AdmissionProblem& problem, const AdmissionOptions& options,
                    std::size_t task, std::size_t processor) {
  const AdmissionTask& of = problem.tasks[task];
  switch (options.goal) {
    case AdmissionGoal::total_utilisation:
      return utilisation(of, processor).value();
    case AdmissionGoal::weighted:
      return utilisation(of, processor).value() * options.weights.at(task);
    case AdmissionGoal::energy:
      return of.energy.empty() ? 0 : of.energy[processor] / seconds(of.period);
    case AdmissionGoal::any:
    case AdmissionGoal::largest_load:
      break;
  }
  return 0;
}

double cost_of(const AdmissionProblem& problem, const AdmissionOptions& options,
               const AdmissionChoice& choice) {
  if (options.goal == AdmissionGoal::largest_load) {
    const std::vector<double> loads = loads_of(problem, choice);
    return loads.empty() ? 0 : std::ranges::max(loads);
  }
  double cost = 0;
  for (std::size_t t = 0; t < choice.size(); ++t)
    cost += cost_of_task(problem, options, t, choice[t]);
  return cost;
}

}  // namespace millrace::explore
