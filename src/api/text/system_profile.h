#pragma once
// The times of a system's tasks and networks.
#include <string>

#include "api/deployment/system_profile.h"

namespace millrace::api {

std::string system_profile_text(const SystemProfile& profile);

}  // namespace millrace::api
