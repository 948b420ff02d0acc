#pragma once
// What the verb analyze found out, for people and for programs.
#include <optional>
#include <string>
#include <vector>

#include "analysis/proof.h"

namespace millrace::cli {

/// What was measured on the spot, in turns.
struct MeasuredNow {
  /// The time between two frames, as it was, and the shortest that the plan allows with the times
  /// that its phases had right behind, without waiting for each other.
  struct Turn {
    Time period{}, bound{};
    std::vector<std::vector<Time>> phases;  // by stage and phase
    std::vector<Time> busy;                 // of a frame in the pipeline, by stage
  };
  std::vector<Turn> turns;
  bool bound_known = false;

  Time period() const;
  Time bound() const;
  Time phase(std::size_t stage, std::size_t number) const;
  /// A stage's time in the pipeline over that of its phases without waiting.
  double busy_to_phases(std::size_t stage) const;
  /// How much of the bound was reached: below this lies such a share of the turns.
  double reached(double share) const;
};

struct Analysis {
  const plan::Plan& plan;
  const network::Network& network;
  std::string file;
  analysis::Proof proof;
  std::optional<MeasuredNow> now = {};
  bool recorded = false;  // the plan's times, and what it was measured with, are a trace's
};

std::string analysis_text(const Analysis& analysis);
std::string analysis_json(const Analysis& analysis);

}  // namespace millrace::cli
