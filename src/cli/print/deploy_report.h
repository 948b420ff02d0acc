#pragma once
// What `deploy` says of what it decided.
#include <string>

#include "api/deployment/deploy.h"

namespace millrace::cli {

/// The plans that each group may have.
std::string group_searches_text(const api::DeployResult& result);
/// What was chosen for each group.
std::string assignments_text(const api::DeployResult& result);
/// The table of clocks by scenario and level.
std::string settings_text(const api::DeployResult& result);
/// Methods beside each other, if there are several, or rates were searched.
std::string methods_text(const api::DeployResult& result);
/// Methods for networks and tasks of graphs beside each other.
std::string mappings_text(const api::DeployResult& result);

}  // namespace millrace::cli
