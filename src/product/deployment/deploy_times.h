#pragma once
// Inside the room: what `deploy` measures, before it decides and after.
#include <optional>
#include <string>

#include "explore/system/system_profile.h"
#include "product/deployment/deploy.h"

namespace millrace::product {

/// Fills in the times that the system leaves to be measured: those of the request's profile, which
/// is returned, or measured ones. InputError if its board is not this machine.
std::optional<explore::SystemProfile> add_times(const DeployRequest& request,
                                                const board::Board& board,
                                                system::System& system);

/// Gives what was decided the times of its tasks here, beside each other; says why that is not
/// enough: one sentence, or empty.
std::string measure_decided(const DeployRequest& request, DeployResult& result);

}  // namespace millrace::product
