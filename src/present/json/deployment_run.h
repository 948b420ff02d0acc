#pragma once
// What a run of a deployment did, for programs: a `deployment_run`.
#include <string>

#include "product/deployment/run.h"

namespace millrace::present {

std::string run_json(const product::DeploymentRun& run);

}  // namespace millrace::present
