#pragma once
// What `profile`, `calibrate` and `verify` found out, for people.
#include <string>

#include "product/calibrate.h"
#include "product/profile_model.h"
#include "product/run.h"
#include "product/verify.h"

namespace millrace::present {

/// Times of layers, of a subnet, and the fitted board: what the request asks for.
std::string profile_text(const product::ProfileResult& result,
                         const product::ProfileRequest& request);
std::string calibration_text(const product::Calibrated& calibrated);
/// Of a plan or a model.
std::string run_text(const product::RunTotals& totals);
/// `against`: the engine of the sequential run.
std::string verification_text(const product::VerifyResult& result, const std::string& against);

}  // namespace millrace::present
