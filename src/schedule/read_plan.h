#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "network/network.h"
#include "plan/plan_file.h"
#include "plan/takeovers.h"

namespace millrace::schedule {

/// plan::read_plan of a plan that is live as well; see check_live. InputError names the file.
plan::PlanFile read_plan(const std::filesystem::path& path, const network::Network& network);

/// The same of plan::read_crops_plan.
std::optional<plan::PlanFile> read_crops_plan(const std::filesystem::path& path,
                                              const network::Network& network);

/// The same of plan::read_takeovers. None where no plan is in a file: it is held in memory, or made
/// of a model here.
std::vector<plan::Takeover> read_takeovers(const std::filesystem::path& path,
                                           const network::Network& network);

}  // namespace millrace::schedule
