#pragma once
// What `plan` chose, from what, and why, for people and for programs.
#include <string>

#include "product/planning/make_plan.h"

namespace millrace::present {

/// What was tried, until the last attempt or the plan.
std::string attempts_text(const product::PlanResult& result);

/// What was chosen, how fast it is, and what to type next, in a few lines. `output`: the plan's
/// file; empty: it was not written.
std::string plan_answer(const product::PlanResult& result, const product::PlanRequest& request,
                        const std::string& output);
/// The same with all tables: from what it was chosen, and why.
std::string plan_text(const product::PlanResult& result, const product::PlanRequest& request,
                      const std::string& output);
/// schemas/planning.schema.json.
std::string planning_json(const product::PlanResult& result, const std::string& output);

}  // namespace millrace::present
