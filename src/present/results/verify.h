#pragma once
// What `calibrate` and `verify` found out, for people and for programs.
#include <string>

#include "product/calibrate.h"
#include "product/verify.h"

namespace millrace::present {

std::string calibration_text(const product::Calibrated& calibrated);
/// A `calibration_report`.
std::string calibration_json(const product::Calibrated& calibrated);

/// `against`: the engine of the sequential run.
std::string verification_text(const product::VerifyResult& result, const std::string& against);
/// A `verification`.
std::string verification_json(const product::VerifyResult& result, const std::string& against);

}  // namespace millrace::present
