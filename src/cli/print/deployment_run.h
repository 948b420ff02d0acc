#pragma once
// What a run of a deployment did, for people.
#include <string>

#include "api/deployment/run.h"

namespace millrace::cli {

std::string deployment_run_text(const api::DeploymentRun& run);

}  // namespace millrace::cli
