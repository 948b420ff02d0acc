#pragma once
// What `plan` says of what it chose.
#include <string>

#include "api/planning/make_plan.h"

namespace millrace::api {

/// What was tried, until the last attempt or the plan.
std::string attempts_text(const PlanResult& result);

/// What was chosen from what, why, and what to type next. `output`: the plan's
/// file; empty: it was not written.
std::string plan_text(const PlanResult& result, const PlanRequest& request,
                      const std::string& output);

}  // namespace millrace::api
