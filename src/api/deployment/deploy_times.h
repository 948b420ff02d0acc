#pragma once
// Inside the room: what `deploy` measures, before it decides and after.
#include <optional>
#include <string>

#include "api/deployment/deploy.h"
#include "api/deployment/system_profile.h"

namespace millrace::api {

/// Fills in the times that the system leaves to be measured: those of the request's profile, which
/// is returned, or measured ones. InputError if its board is not this machine.
std::optional<SystemProfile> add_times(const DeployRequest& request, const board::Board& board,
                                       system::System& system);

/// Gives what was decided the times of its tasks here, beside each other; says why that is not
/// enough: one sentence, or empty.
std::string measure_decided(const DeployRequest& request, DeployResult& result);

}  // namespace millrace::api
