#pragma once
// What `plan` says of what it chose.
#include <string>

#include "explore/choose.h"

namespace millrace::cli {

/// What the plan's graph proves, and the slots of its channels.
std::string proof_text(const network::Network& network, const explore::Candidate& chosen);

/// All candidates, for programs.
std::string choice_json(const explore::Choice& choice, const network::Network& network,
                        const std::string& output);

}  // namespace millrace::cli
