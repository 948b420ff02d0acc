#pragma once
// What the verb analyze found out, for people and for programs.
#include <optional>
#include <string>
#include <vector>

#include "analysis/proof.h"
#include "api/bench/measured_now.h"

namespace millrace::cli {

struct Analysis {
  const plan::Plan& plan;
  const network::Network& network;
  std::string file;
  analysis::Proof proof;
  const api::MeasuredNow* now = nullptr;  // borrowed
  bool recorded = false;  // the plan's times, and what it was measured with, are a trace's
};

std::string analysis_text(const Analysis& analysis);
std::string analysis_json(const Analysis& analysis);

}  // namespace millrace::cli
