#pragma once
// All of Millrace: models, plans, sessions, applications and deployments.
#include <vector>

#include "millrace/application.h"
#include "millrace/deployment.h"
#include "millrace/error.h"
#include "millrace/measure.h"
#include "millrace/model.h"
#include "millrace/options.h"
#include "millrace/plan.h"
#include "millrace/profile.h"
#include "millrace/session.h"
#include "millrace/tensor.h"

namespace millrace {
inline namespace v1 {

// Calls take values and give values; any thread may call any of them, several at once. They print
// nothing, take no signals and change no environment.

/// Measures the model's layers, searches and measures plans, and proves the best. Error: of kind
/// infeasible if no plan keeps within the request.
Plan plan(const Model& model);
Plan plan(const Model& model, const PlanRequest& request);

/// Every layer on every processor. Kept in the cache folder, if the options let it.
Profile profile(const Model& model);
Profile profile(const Model& model, const ProfileRequest& request);

/// Plans at once on the processors that they name, on this machine or any other. The same for the
/// same seed everywhere.
Simulation simulate(const std::vector<SimulatedPlan>& plans);
Simulation simulate(const std::vector<SimulatedPlan>& plans, const SimulateRequest& request);

}  // namespace v1
}  // namespace millrace
