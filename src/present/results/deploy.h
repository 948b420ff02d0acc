#pragma once
// What `deploy` decided, for people and for programs: schemas/deploy.schema.json; and fronts as
// files: schemas/fronts.schema.json.
#include <string>

#include "product/deployment/deploy.h"

namespace millrace::present {

/// `output`: the file of the deployment; empty: none.
std::string deploy_text(const product::DeployResult& result, const std::string& output);
std::string deploy_json(const product::DeployResult& result, const std::string& output);

/// The plans that each group may have, as SVG: latency and power.
std::string fronts_picture(const product::DeployResult& result);
std::string fronts_json(const product::DeployResult& result);

}  // namespace millrace::present
