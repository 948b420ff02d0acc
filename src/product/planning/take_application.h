#pragma once
// What an application's file says of the plan for its networks.
#include "product/planning/make_plan.h"

namespace millrace::product {

/// If the source is an application, its network takes its place, and what the file says of stages,
/// precisions and crops counts where nothing else was said. InputError if options of applications
/// are given for something else.
void take_application(PlanRequest& request);

}  // namespace millrace::product
