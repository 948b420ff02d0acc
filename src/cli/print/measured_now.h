#pragma once
// A plan as it runs beside what was promised.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "api/bench/measured_now.h"

namespace millrace::cli {

/// Lines for a table's foot: what the phases allow, how much of it is reached, and the simulation.
/// Empty without a bound.
std::vector<std::string> lines_of(const api::MeasuredNow& now);
/// The same: `bound_by_phases_measured_now_fps`, `share_of_that_bound`, `simulated`. Empty without
/// a bound.
nlohmann::json json_of(const api::MeasuredNow& now);

}  // namespace millrace::cli
