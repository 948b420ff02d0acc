#pragma once
// Inside the room: the decision for a system whose groups have task graphs.
#include <functional>
#include <vector>

#include "api/deployment/deploy.h"

namespace millrace::api {

/// What is known of the system; borrowed. A group without a network has no model and no plans.
struct GraphWork {
  const DeployRequest& request;
  const system::System& system;
  const board::Board& board;  // with power, perhaps assumed
  const std::string& board_hash;
  bool is_power_assumed = false;
  const std::vector<const explore::GroupModel*>& models;      // by GroupId
  const std::vector<std::vector<explore::GroupPlan>>& plans;  // by GroupId
  std::function<plan::Origin(std::size_t group)> origin_of;
  std::function<bool()> stop;
};

bool has_task_graphs(const system::System& system);
/// Whether the request's method decides for networks and tasks together. InputError if there is no
/// such method, or if it is none for this system.
bool decides_by_mapping(const DeployRequest& request, const system::System& system);

/// Sets the result's mappings, and its deployment or refusal.
void deploy_graphs(const GraphWork& work, DeployResult& result);

}  // namespace millrace::api
