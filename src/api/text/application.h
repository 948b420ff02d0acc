#pragma once
// What `run APPLICATION` and `bench APPLICATION` measured, for people.
#include <string>
#include <vector>

#include "api/application/bench.h"
#include "api/application/run.h"

namespace millrace::api {

std::string application_text(const ApplicationResult& result);

/// Frames, rates and ages of a run, a sentence each.
std::vector<std::string> summary_of(const ApplicationTotals& run);

}  // namespace millrace::api
