#pragma once
// A plan's layers beside the plain loops, each with the numbers that the plan itself gives it: what
// is wrong, and what is right but makes small differences large.
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "network/tensor.h"
#include "plan/plan.h"

namespace millrace::runtime {

/// What is looked into; all borrowed.
struct Suspect {
  const plan::Plan& plan;
  const network::Network& network;
  const std::map<std::string, engine::Engine*>& engines;
  bool forgives_rounding = true;
};

struct FirstDifference {
  std::string layer, stage;
  double error = 0;  // as in Comparison, of what the layer makes
};

struct Followed {
  std::optional<FirstDifference> difference;  // none: every part agrees
  /// Layers before which a phase had to be parted, as the part agrees that ends there, and the one
  /// that begins there, but not both as one: they make small differences large.
  std::vector<std::string> amplifiers;
  std::vector<network::Array> outputs;  // of the phases one after the other; if nothing differs
};

/// Runs the phases of one frame one after the other as the pipeline does, and beside each
/// network::evaluate() on the same numbers. A phase whose results differ by more than `tolerance`,
/// and are farther from float64 than rounding explains (see FromFloat64) if that is forgiven, is
/// parted by bisection, until parts agree or a single layer is left that does not. EngineError and
/// InputError as Engine::prepare throws them.
Followed follow(const Suspect& suspect, std::span<const network::Array> inputs, double tolerance);

}  // namespace millrace::runtime
