#pragma once
// What the file of boards says that the engine `cluster` is given: docs/methods/clusters.md.
#include <cstdint>
#include <string>
#include <vector>

#include "base/operation/context.h"
#include "board/variant.h"
#include "engine/engine.h"
#include "network/network.h"
#include "plan/plan.h"

namespace millrace::runtime {

/// The boards whose loss plans are prepared for; none: there is no file, or it does not say
/// `on_loss: replan`.
std::vector<std::vector<std::string>> losses_to_prepare_for(const Context& context);

/// The lowest precision in which float32 tensors cross the links that the plan uses.
board::Precision precision_on_wire(const plan::Plan& plan, const Context& context);

/// What is measured with random frames. `engine`: that of all stages, which is borrowed.
struct WiredPlan {
  const plan::Plan& plan;
  const network::Network& network;
  engine::Engine& engine;
  std::uint64_t seed = 1;
};
/// Notes what the outputs lose, unless all float32 tensors cross as they are.
void note_wire(const WiredPlan& wired, const Context& context);

}  // namespace millrace::runtime
