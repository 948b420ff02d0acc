#pragma once
// A plan as it runs beside what was promised.
#include <string>
#include <vector>

#include "runtime/bench/measured_now.h"

namespace millrace::present {

/// Lines for a table's foot: what the phases allow, how much of it is reached, and the simulation.
/// Empty without a bound.
std::vector<std::string> lines_of(const runtime::MeasuredNow& now);

}  // namespace millrace::present
