#pragma once
// A plan's outputs beside those of a plain sequential run of the same engine.
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "plan/plan.h"
#include "runtime/sequential.h"

namespace millrace::runtime {

/// By frame, in the order of network.inputs or network.outputs.
using Frames = std::vector<std::vector<network::Array>>;

struct Comparison {
  std::int64_t frames = 0;
  bool bit_equal = true;
  double error = 0;  // largest absolute difference over largest absolute reference value
};

/// Outputs of equally many frames. A difference in type, shape or NaN-ness is an infinite error.
Comparison compare(const Frames& reference, const Frames& result);

/// All frames through a pipeline of their own.
Frames run_pipeline(const plan::Plan& plan, const network::Network& network,
                    const std::map<std::string, engine::Engine*>& engines, const Frames& inputs);

/// All frames through the whole network as one subnet.
Frames run_sequentially(Sequential& sequential, const Frames& inputs);

}  // namespace millrace::runtime
