#pragma once
// What a run of a deployment did, for people.
#include <string>

#include "api/deployment/run.h"

namespace millrace::api {

std::string deployment_run_text(const DeploymentRun& run);

}  // namespace millrace::api
