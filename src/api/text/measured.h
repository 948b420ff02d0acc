#pragma once
// What `profile`, `calibrate` and `verify` found out, for people.
#include <string>

#include "api/calibrate.h"
#include "api/profile_model.h"
#include "api/verify.h"

namespace millrace::api {

/// Times of layers, of a subnet, and the fitted board: what the request asks for.
std::string profile_text(const ProfileResult& result, const ProfileRequest& request);
std::string calibration_text(const Calibrated& calibrated);
/// `against`: the engine of the sequential run.
std::string verification_text(const VerifyResult& result, const std::string& against);

}  // namespace millrace::api
