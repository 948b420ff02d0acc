#pragma once
// The times of a system's tasks and networks.
#include <string>

#include "explore/system/system_profile.h"

namespace millrace::present {

std::string system_profile_text(const explore::SystemProfile& profile);

}  // namespace millrace::present
