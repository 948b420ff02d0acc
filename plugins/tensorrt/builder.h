#pragma once
// Subnets made into engines by TensorRT's builder.
#include <functional>
#include <string>

#include "library.h"
#include "millrace/engine.h"

namespace millrace_tensorrt {

/// Where an engine is to run.
struct Target {
  int dla = -1;  // the DLA's number; -1: the GPU
};

/// Why the subnet does not run there.
struct Answer {
  MillraceReason reason = millrace_runs;
  std::size_t node = 0;
  std::string text = {};
};

/// Parses it, and asks the DLA for each layer.
Answer can_run(const Library& library, const Target& target, const MillraceSubnet& subnet);

/// The serialised engine. A layer runs in the precision that the subnet says; int8 takes the ranges
/// of tensors, where they are known, on both sides of 0. SdkFailure with TensorRT's first error.
std::string build(const Library& library, const Settings& settings, const Target& target,
                  const MillraceSubnet& subnet);

}  // namespace millrace_tensorrt
