#pragma once
// What a request for a plan contradicts, and what its result leaves to be asked.
#include <string>

#include "explore/choose.h"
#include "product/planning/make_plan.h"

namespace millrace::product {

/// InputError if an option was given that the chosen search does not read.
void check_search_reads_options(const PlanRequest& request);

/// Says that a stage takes another time than the profile predicted, and what to type; empty: none.
std::string other_speed_text(const PlanRequest& request, const PlanResult& result);

/// Why no plan of the search will do. Empty if one will.
std::string refusal_of(const PlanRequest& request, const explore::Choice& choice, Time nearest);

}  // namespace millrace::product
