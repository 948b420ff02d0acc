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

/// That the plan is for other times than the machine has now, so it may be the wrong one; empty:
/// it is not.
std::string other_speed_text(const plan::Plan& plan, const std::string& model);

/// On how many frames at once the layer works; empty: on one.
std::string batch_text(const plan::Plan& plan, LayerId layer);

/// "2 processors".
std::string processors_text(std::size_t count);

/// That the nearest plan takes longer for a frame than allowed.
std::string too_slow_text(Time nearest, const std::string& max_latency);

}  // namespace millrace::cli
