#pragma once
// Plans, processors, priorities, and clocks for a system in a file.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explore/system/deploy.h"
#include "product/context.h"

namespace millrace::product {

using explore::DeployResult;
using explore::GroupSearch;
using explore::MappingReport;
using explore::MethodReport;

struct DeployRequest : explore::DeployOptions {
  std::string system;      // a file
  std::string board = {};  // instead of the system's: a shipped one or a board file
  /// On this machine: so many runs of each task of what was decided, beside the others, in place of
  /// the sums of its layers' worst cases. 0: none; at first 200.
  std::optional<std::int64_t> samples = {};
  std::vector<std::string> plugins = {};  // libraries with functions of tasks
  /// A file of `profile SYSTEM` with what the system leaves to be measured; empty: measured now.
  std::string profile = {};
  Context context = {};
};

/// InputError if the request contradicts itself or a file is wrong.
DeployResult deploy_system(const DeployRequest& request);

}  // namespace millrace::product
