#pragma once
// What the verb analyze found out, and a plan as it runs beside what was promised, for people and
// for programs.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "product/analyze.h"

namespace millrace::present {

std::string analysis_text(const product::Analysis& analysis);
/// schemas/analysis.schema.json.
std::string analysis_json(const product::Analysis& analysis);

/// Lines for a table's foot: what the phases allow, how much of it is reached, and the simulation.
/// Empty without a bound.
std::vector<std::string> lines_of(const runtime::MeasuredNow& now);
/// The fields `bound_by_phases_measured_now_fps`, `share_of_that_bound` and `simulated`; none
/// without a bound.
nlohmann::json json_of(const runtime::MeasuredNow& now);

}  // namespace millrace::present
