#pragma once
// A plan as it runs beside what was promised, for programs.
#include <nlohmann/json_fwd.hpp>

#include "runtime/bench/measured_now.h"

namespace millrace::present {

/// The fields `bound_by_phases_measured_now_fps`, `share_of_that_bound` and `simulated`; none
/// without a bound.
nlohmann::json json_of(const runtime::MeasuredNow& now);

}  // namespace millrace::present
