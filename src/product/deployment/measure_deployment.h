#pragma once
// The times of a deployment's tasks on this machine, and which rates they admit.
#include <cstdint>
#include <optional>
#include <vector>

#include "product/deployment/loaded_deployment.h"
#include "runtime/controller/record.h"
#include "runtime/controller/task_times.h"

namespace millrace::product {

/// What was measured, before the overhead was shared out.
struct MeasuredDeployment {
  deployment::Deployment deployment;  // with these times; its settings have new bounds
  std::vector<std::vector<runtime::TaskTimes>> tasks;
  runtime::Overhead overhead;
};
/// `groups`: those of the loaded deployment, or the same with other steps.
MeasuredDeployment measure_deployment(const LoadedDeployment& loaded,
                                      const std::vector<runtime::GroupToRun>& groups,
                                      const runtime::TaskTimesOptions& options = {});

struct MeasuringRequest {
  std::int64_t samples = 200;  // of each task
  TaskSources tasks = {};
};

/// A deployment for this machine with times that were measured here, as by measure_deployment.
deployment::Deployment measured_here(const deployment::Deployment& deployment,
                                     const MeasuringRequest& request, const Context& context);

/// Groups that name an application and say nothing of their steps get the worst times of some runs
/// of these, as a beginning.
void add_times_of_steps(system::System& system, const Context& context);

}  // namespace millrace::product
