#pragma once
// What `plan` chose, from what, and why, for programs: schemas/planning.schema.json.
#include <string>

#include "product/planning/make_plan.h"

namespace millrace::present {

/// `output`: the plan's file; empty: it was not written.
std::string planning_json(const product::PlanResult& result, const std::string& output);

}  // namespace millrace::present
