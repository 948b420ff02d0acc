#pragma once
// Whether a provider runs a subnet: a session of it answers.
#include <string>

#include "provider.h"
#include "millrace/engine.h"

namespace millrace_onnxruntime {

/// The answer to can_run().
struct Answer {
  MillraceReason reason = millrace_runs;
  std::size_t node = 0;
  std::string text = {};
};

Answer can_run(const Provider& provider, const MillraceSubnet& subnet);

}  // namespace millrace_onnxruntime
