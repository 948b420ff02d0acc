#pragma once
// What `admit` answers, for people.
#include <string>

#include "api/admission/admit.h"

namespace millrace::api {

/// Where what runs, and how good that is; nothing if it does not fit.
std::string admission_answer(const AdmitResult& result, const std::string& goal);

/// Why it does not fit: one sentence.
std::string admission_refusal(const AdmitResult& result);

std::string played_text(const runtime::Played& played, const AdmitResult& result);

}  // namespace millrace::api
