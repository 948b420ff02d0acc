#pragma once
// Whether the deadlines of a deployment hold.
#include <cstdint>
#include <optional>
#include <string>

#include "analysis/schedulability.h"
#include "product/context.h"

namespace millrace::product {

struct DeadlinesRequest {
  std::string deployment;                  // a file
  std::string scenario = {};               // empty: all
  std::optional<std::int64_t> level = {};  // none: all
  realtime::SimulationOptions simulation = {};
  bool rates = false;  // how much higher they may be
  /// A file of `profile SYSTEM`, whose times count for the tasks that it has; empty: none.
  std::string profile = {};
  std::string releases = {};  // a file with those that were recorded, which give the events
  Context context = {};
};

/// No model of the deployment need be there. InputError if there is no such scenario or level.
analysis::DeploymentAnswers analyze_deadlines(const DeadlinesRequest& request);

}  // namespace millrace::product
