#pragma once
// The times of layers, subnets and systems' tasks, for people and for programs.
#include <string>

#include "explore/system/system_profile.h"
#include "product/profile_model.h"

namespace millrace::present {

/// Times of layers, of a subnet, and the fitted board: what the request asks for.
std::string profile_text(const product::ProfileResult& result,
                         const product::ProfileRequest& request);
/// The profile, as in its file; or, if the request asks for these, a `subnet_profile` or a
/// `board_fit`.
std::string profile_json(const product::ProfileResult& result,
                         const product::ProfileRequest& request);

std::string system_profile_text(const explore::SystemProfile& profile);
/// As in its file.
std::string system_profile_json(const explore::SystemProfile& profile);

}  // namespace millrace::present
