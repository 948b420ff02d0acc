#pragma once
// What `profile`, `calibrate`, `verify` and `run` found out, for programs: the schemas of the kinds
// below.
#include <string>

#include "explore/system/system_profile.h"
#include "product/application/run.h"
#include "product/calibrate.h"
#include "product/profile_model.h"
#include "product/run.h"
#include "product/verify.h"

namespace millrace::present {

/// The profile, as in its file; or, if the request asks for these, a `subnet_profile` or a
/// `board_fit`.
std::string profile_json(const product::ProfileResult& result,
                         const product::ProfileRequest& request);
/// As in its file.
std::string system_profile_json(const explore::SystemProfile& profile);
/// A `calibration_report`.
std::string calibration_json(const product::Calibrated& calibrated);
/// A `verification`.
std::string verification_json(const product::VerifyResult& result, const std::string& against);

/// The last line of a run: a `run`, or an `application_run`.
std::string run_json(const product::RunTotals& totals);
std::string run_json(const product::ApplicationTotals& run);

}  // namespace millrace::present
