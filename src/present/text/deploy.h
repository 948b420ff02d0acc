#pragma once
// What `deploy` says of what it decided.
#include <string>

#include "product/deployment/deploy.h"

namespace millrace::present {

/// `output`: the file of the deployment.
std::string deploy_text(const product::DeployResult& result, const std::string& output);

/// The plans that each group may have, as SVG: latency and power.
std::string fronts_picture(const product::DeployResult& result);

}  // namespace millrace::present
