#pragma once
// What a request for a plan says of its search.
#include "product/planning/make_plan.h"

namespace millrace::product {

explore::SearchOptions search_options(const PlanRequest& request);
/// Without what is known of the board and its engines.
explore::ChooseOptions choose_options(const PlanRequest& request);

/// On all ranks but the first: shares its searches until that one ends.
[[noreturn]] void follow(const PlanRequest& request);

}  // namespace millrace::product
