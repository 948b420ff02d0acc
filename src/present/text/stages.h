#pragma once
// Where the layers went, and how long stages take.
#include <string>

#include "network/network.h"
#include "plan/evidence.h"

namespace millrace::present {

/// One line per run of neighbouring layers on the same processor: "conv1 .. relu4 (12 layers)".
std::string groups_text(const plan::Plan& plan, const network::Network& network);

/// One row per replica of each stage: processor, phases, layers, predicted and measured time, MACs,
/// variants. Then a line for each device that a core feeds.
std::string stages_text(const plan::Plan& plan, const plan::Evidence& evidence,
                        const network::Network& network);

}  // namespace millrace::present
