#pragma once
// Which share of a run each group of fused layers takes, by the library's own profile.
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/onnxruntime/session.h"

namespace millrace::engine::onnxruntime {

struct GroupShare {
  std::vector<LayerId> layers;  // ascending
  std::string kernel;           // the nodes' operators: "Conv", "ReorderInput+Conv"
  double share = 0;             // of the whole
};

/// What a subnet is run on.
struct RunMemory {
  std::span<const std::byte* const> in;
  std::span<std::byte* const> out;
};

/// Runs the part a few times with profiling on, in a session of its own. The groups cover all
/// layers, in order. One group if the profile cannot be attributed.
std::vector<GroupShare> measure_shares(const Provider& provider, const SessionPart& part,
                                       const board::Processor& processor, const RunMemory& memory);

}  // namespace millrace::engine::onnxruntime
