#pragma once
// Inside `deployment`: what options say, and which of them would say nothing.
#include "product/deployment/deploy.h"

namespace millrace::product {

/// Runs of each task on this machine.
std::int64_t samples_of(const DeployRequest& request);

/// InputError for options of other times than those that the system's board has, and of networks
/// alone where tasks are beside them.
void refuse_options_without_effect(const DeployRequest& request, const system::System& system);

void note_groups_that_never_run(const DeployRequest& request, const system::System& system);

}  // namespace millrace::product
