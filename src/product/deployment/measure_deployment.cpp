#include "product/deployment/measure_deployment.h"

#include "analysis/responses.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "runtime/scheduling/thread_priority.h"

namespace millrace::product {

MeasuredDeployment measure_deployment(const LoadedDeployment& loaded,
                                      const std::vector<runtime::GroupToRun>& groups,
                                      const runtime::TaskTimesOptions& options) {
  MeasuredDeployment result;
  result.tasks = runtime::measure_tasks(loaded.deployment, loaded.board, groups, options);
  result.overhead = runtime::measure_overhead(loaded.deployment, loaded.board, groups, options);
  result.deployment =
      runtime::with_times(loaded.deployment, result.tasks, result.overhead, options.beside_others);
  for (deployment::Setting& setting : result.deployment.settings) {
    setting.bounds = analysis::response_bounds(result.deployment, loaded.board,
                                               {setting.scenario, setting.level});
    for (auto& bound : setting.bounds)
      if (bound) *bound -= result.deployment.system.overhead;  // as the analysis has it
  }
  return result;
}

deployment::Deployment measured_here(const deployment::Deployment& deployment,
                                     const MeasuringRequest& request, const Context& context) {
  const auto loaded = make_ready(deployment, {Networks(context), request.tasks}, context);
  const InterruptGuard interrupt(context.interrupt);
  runtime::TaskTimesOptions options;
  options.samples = request.samples;
  options.between = [&] { interrupt.check(); };
  const Verdict allowed = runtime::may_have_priority(runtime::highest_priority);
  if (!allowed) context.note(allowed.reason());
  return measure_deployment(*loaded, loaded->groups_to_run(), options).deployment;
}

void add_times_of_steps(system::System& system, const Context& context) {
  for (system::Group& group : system.groups) {
    if (group.application.empty() || (group.preprocess && group.postprocess)) continue;
    const GroupSteps steps = open_steps(group, context);
    const explore::StepTimes times = times_of_steps(steps);
    if (!group.preprocess) group.preprocess = times.preprocess;
    if (!group.postprocess) group.postprocess = times.postprocess;
  }
}

}  // namespace millrace::product
