#pragma once
// What searches found, and precisions that were chosen, for people and for programs.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "explore/choose.h"
#include "explore/precision/precision.h"

namespace millrace::present {

/// With the latencies, if there is a largest one.
std::string candidates_text(const explore::Choice& choice);
nlohmann::json candidates_json(const explore::Choice& choice, const network::Network& network);

/// What each layer gains and costs, and what was chosen.
std::string precisions_text(const network::Network& network,
                            const explore::PrecisionChoice& choice);
nlohmann::json precisions_json(const network::Network& network,
                               const explore::PrecisionChoice& choice);

/// One sentence without its full stop.
std::string loss_text(const profile::Loss& loss);

}  // namespace millrace::present
