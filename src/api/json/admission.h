#pragma once
// Which network is admitted where, for programs: schemas/admission.schema.json.
#include <string>

#include "api/admission/admit.h"

namespace millrace::api {

std::string admission_json(const AdmitResult& result);

}  // namespace millrace::api
