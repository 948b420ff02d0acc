#pragma once
// Which share of a run each group of fused layers takes, by the library's own profile.
#include <string>
#include <vector>

#include "millrace/engine.h"
#include "session.h"

namespace millrace_onnxruntime {

struct GroupShare {
  std::vector<std::size_t> layers;  // of the subnet, ascending
  std::string kernel;               // the nodes' operators: "Conv", "ReorderInput+Conv"
  double share = 0;                 // of the whole
};

/// Runs the subnet a few times with profiling on, in a session of its own, on these buffers. The
/// groups cover all layers, in order. One group if the profile cannot be attributed.
std::vector<GroupShare> measure_shares(const Provider& provider, const MillraceSubnet& subnet,
                                       const std::vector<int>& cores, const MillraceRun& run);

}  // namespace millrace_onnxruntime
