#pragma once
// One order of all phases in which none stands before what it waits for.
#include <vector>

#include "plan/plan.h"

namespace millrace::plan {

/// Each phase once, behind those that it reads from and those before it in its stage; of several
/// that might come next, the one of the first stage and phase. Where some wait for each other in a
/// circle, these are left out.
std::vector<Endpoint> phase_order(const Plan& plan);

}  // namespace millrace::plan
