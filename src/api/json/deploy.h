#pragma once
// What `deploy` decided, for programs: schemas/deploy.schema.json; and fronts as files:
// schemas/fronts.schema.json.
#include <string>

#include "api/deployment/deploy.h"

namespace millrace::api {

/// `output`: the file of the deployment; empty: none.
std::string deploy_json(const DeployResult& result, const std::string& output);
std::string fronts_json(const DeployResult& result);

}  // namespace millrace::api
