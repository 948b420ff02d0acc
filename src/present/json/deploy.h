#pragma once
// What `deploy` decided, for programs: schemas/deploy.schema.json; and fronts as files:
// schemas/fronts.schema.json.
#include <string>

#include "product/deployment/deploy.h"

namespace millrace::present {

/// `output`: the file of the deployment; empty: none.
std::string deploy_json(const product::DeployResult& result, const std::string& output);
std::string fronts_json(const product::DeployResult& result);

}  // namespace millrace::present
