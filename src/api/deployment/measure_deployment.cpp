#include "api/deployment/measure_deployment.h"

#include <cmath>

#include "base/error.h"

#include "realtime/analysis.h"
#include "realtime/utilisation.h"

namespace millrace::api {
namespace {

deployment::Operation operation_at(const deployment::Deployment& deployment,
                                   const deployment::Wanted& at) {
  deployment::Operation operation{at.scenario, at.level};
  const auto* setting = deployment::setting_for(deployment, at.scenario, at.level);
  if (setting) operation.clocks = setting->clocks;
  return operation;
}

bool is_overloaded(const realtime::TaskSystem& tasks) {
  for (const realtime::Utilisation& each : realtime::utilisations(tasks))
    if (each.is_overloaded) return true;
  return false;
}

bool fits(const deployment::Deployment& deployment, const board::Board& board,
          system::ScenarioId scenario) {
  const deployment::Wanted highest{scenario, deployment.system.levels - 1};
  try {
    const realtime::TaskSystem tasks =
        deployment::task_system(deployment, board, operation_at(deployment, highest));
    return !is_overloaded(tasks) && realtime::is_schedulable(tasks, realtime::analyse(tasks));
  } catch (const InputError&) {  // the overhead leaves nothing of a deadline
    return false;
  }
}

}  // namespace

MeasuredDeployment measure_deployment(const LoadedDeployment& loaded,
                                      const std::vector<runtime::GroupToRun>& groups,
                                      const runtime::TaskTimesOptions& options) {
  MeasuredDeployment result;
  result.tasks = runtime::measure_tasks(loaded.deployment, loaded.board, groups, options);
  result.overhead = runtime::measure_overhead(loaded.deployment, loaded.board, groups, options);
  result.deployment =
      runtime::with_times(loaded.deployment, result.tasks, result.overhead, options.beside_others);
  for (deployment::Setting& setting : result.deployment.settings) {
    setting.bounds =
        response_bounds(result.deployment, loaded.board, {setting.scenario, setting.level});
    for (auto& bound : setting.bounds)
      if (bound) *bound -= result.deployment.system.overhead;  // as the analysis has it
  }
  return result;
}

std::vector<std::optional<Time>> response_bounds(const deployment::Deployment& deployment,
                                                 const board::Board& board,
                                                 const deployment::Wanted& at) {
  std::vector<std::optional<Time>> bounds(deployment.system.groups.size());
  const realtime::TaskSystem tasks =
      deployment::task_system(deployment, board, operation_at(deployment, at));
  if (is_overloaded(tasks)) return bounds;
  const realtime::Bounds found = realtime::analyse(tasks);
  const auto& groups = deployment.system[at.scenario].groups;
  for (std::size_t f = 0; f < groups.size(); ++f)
    if (const Time response = found.flows[f].response; response != realtime::unbounded)
      bounds[groups[f].index] = response + deployment.system.overhead;
  return bounds;
}

deployment::Deployment with_rates(deployment::Deployment deployment, double factor) {
  for (system::Group& group : deployment.system.groups) {
    group.rates.least_fps *= factor;
    group.rates.most_fps *= factor;
  }
  return deployment;
}

double highest_factor(const deployment::Deployment& deployment, const board::Board& board,
                      system::ScenarioId scenario) {
  constexpr double slowest = 1e-3, fastest = 1e3, exact = 1e-3;
  double low = slowest, high = fastest;
  if (!fits(with_rates(deployment, low), board, scenario)) return 0;
  while (high / low > 1 + exact) {
    const double middle = std::sqrt(low * high);
    (fits(with_rates(deployment, middle), board, scenario) ? low : high) = middle;
  }
  return low;
}

}  // namespace millrace::api
