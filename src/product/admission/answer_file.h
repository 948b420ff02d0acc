#pragma once
// Which network is admitted where, for programs: schemas/admission.schema.json.
#include <string>

#include "product/admission/admit.h"

namespace millrace::product {

/// `played`: null if the table was not run.
std::string admission_json(const AdmitResult& result, const PlayedAdmission* played = nullptr);

}  // namespace millrace::product
