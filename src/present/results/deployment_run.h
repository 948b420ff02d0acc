#pragma once
// What a run of a deployment did, for people and for programs: a `deployment_run`.
#include <string>

#include "product/deployment/run.h"

namespace millrace::present {

std::string deployment_run_text(const product::DeploymentRun& run);
std::string run_json(const product::DeploymentRun& run);

}  // namespace millrace::present
