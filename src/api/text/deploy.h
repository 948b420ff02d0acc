#pragma once
// What `deploy` says of what it decided.
#include <string>

#include "api/deployment/deploy.h"

namespace millrace::api {

/// `output`: the file of the deployment.
std::string deploy_text(const DeployResult& result, const std::string& output);

/// The plans that each group may have, as SVG: latency and power.
std::string fronts_picture(const DeployResult& result);

}  // namespace millrace::api
