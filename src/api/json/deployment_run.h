#pragma once
// What a run of a deployment did, for programs: a `deployment_run`.
#include <string>

#include "api/deployment/run.h"

namespace millrace::api {

std::string run_json(const DeploymentRun& run);

}  // namespace millrace::api
