#pragma once
// millrace bench --on-request: a plan that takes turns with other programs on the same cores.
#include <istream>

#include "api/model.h"
#include "runtime/load.h"

namespace millrace::cli {

struct SliceOptions {
  Time warmup{};              // before each slice; does not count
  runtime::LoadOptions load;  // its duration comes with each request
};

/// Deploys the plan and prints a line of JSON when it is ready. Each line of `requests` then holds
/// a duration in seconds: the plan runs for so long, and what was measured is printed as a line of
/// JSON. In between it is paused with its frames. Returns at the end of `requests`; throws
/// InputError for a line that is no duration.
void serve_slices(const api::Loaded& loaded, const SliceOptions& options, std::istream& requests);

}  // namespace millrace::cli
