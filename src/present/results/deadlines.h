#pragma once
// Whether the deadlines of a deployment hold, for people and for programs.
#include <string>

#include "analysis/schedulability.h"

namespace millrace::present {

std::string deadlines_text(const analysis::DeploymentAnswers& answers);
std::string deadlines_json(const analysis::DeploymentAnswers& answers);

/// The run with the longest response of the group with the least slack, in the scenario and at the
/// level where that is. Empty if nothing was simulated.
std::string deadlines_gantt(const analysis::DeploymentAnswers& answers);

/// "alone, ...": under which load times were measured, and what follows.
const char* contention_text(deployment::Contention contention);

}  // namespace millrace::present
