#pragma once
// What the verb analyze found out, for people and for programs.
#include <optional>
#include <string>

#include "analysis/proof.h"

namespace millrace::cli {

/// What was measured on the spot.
struct MeasuredNow {
  Time period{};  // between two frames
  Time bound{};   // between two frames, by the plan's graph with the phases' times of now
  bool bound_known = false;
};

struct Analysis {
  const plan::Plan& plan;
  const network::Network& network;
  std::string file;
  analysis::Proof proof;
  std::optional<MeasuredNow> now = {};
};

std::string analysis_text(const Analysis& analysis);
std::string analysis_json(const Analysis& analysis);

}  // namespace millrace::cli
