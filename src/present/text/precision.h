#pragma once
// What `plan --max-loss` chose.
#include <string>

#include "product/planning/precision.h"

namespace millrace::present {

/// What each layer gains and costs, and what was chosen.
std::string precisions_text(const network::Network& network,
                            const explore::PrecisionChoice& choice);

/// One sentence without its full stop.
std::string loss_text(const profile::Loss& loss);

}  // namespace millrace::present
