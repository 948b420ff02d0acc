#pragma once
// What `plan` says of what it chose.
#include <string>

#include "api/planning/make_plan.h"

namespace millrace::cli {

/// What the plan's graph proves, and the slots of its channels.
std::string proof_text(const network::Network& network, const explore::Candidate& chosen);

/// What the plan gains over the fastest processor alone, and what to type next: two lines.
/// `source`: what was planned, a model or an application.
std::string closing_text(const explore::Choice& choice, const std::string& source,
                         const std::string& output);

/// Why the layer is where it is.
std::string why_text(const api::PlanResult& result, const api::LayerReasons& why);

/// "2 processors".
std::string processors_text(std::size_t count);

}  // namespace millrace::cli
