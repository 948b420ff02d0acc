#pragma once
// What the calls of millrace/millrace.h do, whose names are those of rooms too.
#include <vector>

#include "millrace/plan.h"
#include "millrace/measure.h"
#include "millrace/profile.h"

namespace millrace::face {

Plan make_plan(const Model& model, const PlanRequest& request);
Profile make_profile(const Model& model, const ProfileRequest& request);

Simulation make_simulation(const std::vector<SimulatedPlan>& plans,
                           const SimulateRequest& request);

}  // namespace millrace::face
