#pragma once
// What `calibrate` and `verify` found out, for people and for programs.
#include <string>

#include "product/calibrate.h"
<<<<<<< HEAD:src/present/text/measured.h
#include "product/profile_model.h"
#include "product/run.h"
=======
>>>>>>> 2c1d54a2 (One description of each result: text and JSON of a row come from one list of fields):src/present/results/verify.h
#include "product/verify.h"

namespace millrace::present {

std::string calibration_text(const product::Calibrated& calibrated);
<<<<<<< HEAD:src/present/text/measured.h
/// Of a plan or a model.
std::string run_text(const product::RunTotals& totals);
=======
/// A `calibration_report`.
std::string calibration_json(const product::Calibrated& calibrated);

>>>>>>> 2c1d54a2 (One description of each result: text and JSON of a row come from one list of fields):src/present/results/verify.h
/// `against`: the engine of the sequential run.
std::string verification_text(const product::VerifyResult& result, const std::string& against);
/// A `verification`.
std::string verification_json(const product::VerifyResult& result, const std::string& against);

}  // namespace millrace::present
