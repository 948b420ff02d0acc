#pragma once
// Beside a plan for a board that is not at hand: each kind of its processors by itself.
#include <vector>

#include "product/loaded.h"
#include "runtime/bench/bench.h"

namespace millrace::product {

/// The whole network on the first processor of each device that can run it all, as the model of the
/// plan's board has it; they run on the plan's simulated engine. Empty if the board is not found
/// again, neither shipped nor as the file that the plan was made from, or was changed since.
std::vector<runtime::Baseline> simulated_baselines(Loaded& loaded);

}  // namespace millrace::product
