#pragma once
// Inside `admission`: the choice and its static table.
#include "api/admission/admit.h"
#include "api/admission/running.h"

namespace millrace::api {

/// Decides for all of the result's tasks; what runs stays as it is, if so all fit: first to the
/// nanosecond, then where it is, then anywhere.
void decide(const AdmitRequest& request, const RunningSet& running, AdmitResult& result);

}  // namespace millrace::api
