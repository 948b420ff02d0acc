#pragma once
// Inside the room: the equations of "4.1", "4.2", "5.3" and "5.4" as rules.
#include "realtime/analysis.h"
#include "realtime/policy.h"

namespace millrace::realtime {

/// Precondition: not Equation::none.
const PolicyRule& rule_of(Equation equation);

}  // namespace millrace::realtime
