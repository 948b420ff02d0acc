#pragma once
// What `admit` answers, for people.
#include <string>

#include "product/admission/admit.h"

namespace millrace::present {

/// Where what runs, and how good that is; nothing if it does not fit.
std::string admission_answer(const product::AdmitResult& result, const std::string& goal);

/// Why it does not fit: one sentence.
std::string admission_refusal(const product::AdmitResult& result);

std::string played_text(const runtime::Played& played, const product::AdmitResult& result);

}  // namespace millrace::present
