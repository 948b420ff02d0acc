// Includes no header of a room: functions here have the names of rooms.
#include "face/verbs.h"

#include "millrace/millrace.h"

namespace millrace {
inline namespace v1 {

Plan plan(const Model& model) { return face::make_plan(model, PlanRequest{}); }
Profile profile(const Model& model) { return face::make_profile(model, ProfileRequest{}); }

Simulation simulate(const std::vector<SimulatedPlan>& plans) {
  return face::make_simulation(plans, SimulateRequest{});
}

Plan plan(const Model& model, const PlanRequest& request) {
  return face::make_plan(model, request);
}

Profile profile(const Model& model, const ProfileRequest& request) {
  return face::make_profile(model, request);
}

Simulation simulate(const std::vector<SimulatedPlan>& plans, const SimulateRequest& request) {
  return face::make_simulation(plans, request);
}

}  // namespace v1
}  // namespace millrace
