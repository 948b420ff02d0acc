#pragma once
// What `profile`, `calibrate`, `verify` and `run` found out, for programs: the schemas of the kinds
// below.
#include <string>

#include "api/application/run.h"
#include "api/calibrate.h"
#include "api/deployment/system_profile.h"
#include "api/profile_model.h"
#include "api/run.h"
#include "api/verify.h"

namespace millrace::api {

/// The profile, as in its file; or, if the request asks for these, a `subnet_profile` or a
/// `board_fit`.
std::string profile_json(const ProfileResult& result, const ProfileRequest& request);
/// As in its file.
std::string system_profile_json(const SystemProfile& profile);
/// A `calibration_report`.
std::string calibration_json(const Calibrated& calibrated);
/// A `verification`.
std::string verification_json(const VerifyResult& result, const std::string& against);

/// The last line of a run: a `run`, or an `application_run`.
std::string run_json(const RunTotals& totals);
std::string run_json(const ApplicationTotals& run);

}  // namespace millrace::api
