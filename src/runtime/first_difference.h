#pragma once
// Where in a plan results begin to differ from those of the plain loops.
#include <optional>
#include <span>
#include <string>

#include "runtime/compare.h"

namespace millrace::runtime {

/// What is looked into; all borrowed.
struct Suspect {
  const plan::Plan& plan;
  const network::Network& network;
  const std::map<std::string, engine::Engine*>& engines;
};

struct FirstDifference {
  std::string layer, stage;
  double error = 0;  // as in Comparison, of what the layers up to this one make
};

/// The first layer with which a phase makes results that differ by more than `tolerance` from
/// network::evaluate(), though it is given right inputs: found by bisection over the layers of each
/// phase, for one frame. Nothing if every phase alone is right. EngineError and InputError as
/// Engine::prepare throws them.
std::optional<FirstDifference> first_difference(const Suspect& suspect,
                                                std::span<const network::Array> inputs,
                                                double tolerance);

}  // namespace millrace::runtime
