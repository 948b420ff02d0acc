#pragma once
// The second network of an application with crops, which is planned with the first one.
#include <optional>
#include <string>

#include "application/application.h"
#include "explore/together.h"
#include "product/planning/make_plan.h"

namespace millrace::product {

/// None if the file says nothing of crops, or says where their network runs.
std::optional<application::Crops> crops_to_plan(const application::Application& application);

/// The network of the request's crops, with their batch. Precondition: there are crops.
network::Network network_of_crops(const PlanRequest& request);

/// For that network alone: in float32, with nothing that was said of the first one.
PlanRequest request_of_crops(const PlanRequest& request);

/// How often it runs for a frame, at most.
std::int64_t runs_of(const application::Crops& crops);

/// Whether one search decides both. Stages by hand, searches over configurations and a largest
/// latency decide the first network, and the second one is put beside it.
bool are_planned_together(const PlanRequest& request);

/// Prepares plans for the loss of boards, where the file of boards asks for them, and notes which.
void add_takeovers(const PlanRequest& request, PlanResult& result);
/// The plans of all networks, in one file.
void write_planned(const std::string& output, const PlanResult& result);

}  // namespace millrace::product
