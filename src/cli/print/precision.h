#pragma once
// What `plan --max-loss` chose.
#include <string>

#include "api/planning/precision.h"

namespace millrace::cli {

/// What each layer gains and costs, and what was chosen.
std::string precisions_text(const network::Network& network,
                            const explore::PrecisionChoice& choice);
/// One sentence if the choice is not within the budget: what to do.
std::string missed_budget_text(const api::PrecisionRequest& request,
                               const explore::PrecisionChoice& choice);

}  // namespace millrace::cli
