#pragma once
// The decision for a system whose groups have task graphs.
#include <functional>
#include <vector>

#include "explore/system/deploy.h"

namespace millrace::explore {

/// What is known of the system; borrowed. A group without a network has no model and no plans.
struct GraphWork {
  const DeployOptions& options;
  const Context& context;
  const system::System& system;
  const board::Board& board;  // with power, perhaps assumed
  const std::string& board_hash;
  bool is_power_assumed = false;
  const std::vector<const GroupModel*>& models;      // by GroupId
  const std::vector<std::vector<GroupPlan>>& plans;  // by GroupId
  std::function<plan::Origin(std::size_t group)> origin_of;
  std::function<bool()> stop;
};

bool has_task_graphs(const system::System& system);
/// Whether the method decides for networks and tasks together. InputError if there is no such
/// method, or if it is none for this system.
bool decides_by_mapping(const std::string& method, const system::System& system);

/// Sets the result's mappings, and its deployment or refusal.
void deploy_graphs(const GraphWork& work, DeployResult& result);

}  // namespace millrace::explore
