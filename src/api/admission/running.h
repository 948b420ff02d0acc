#pragma once
// Inside `admission`: what was admitted before.
#include <string>

#include "api/admission/admit.h"

namespace millrace::api {

/// Adds the groups of a file that admission_json() wrote behind those of the result, which has the
/// processors of its board. Where each runs, by task from the first added one on. InputError if the
/// file is none such, is of another board, or has a group of a name that is there.
explore::AdmissionChoice add_running(const std::string& file, AdmitResult& result);

}  // namespace millrace::api
