#pragma once
// Outputs of which the host knows neither type nor shape.
#include <cstdint>
#include <deque>
#include <vector>

#include "millrace/engine.h"
#include "session.h"

namespace millrace_onnxruntime {

/// By output of the subnet; what the host knows is as it says.
struct FoundOutputs {
  std::vector<MillraceTensor> tensors;
  std::vector<std::int32_t> sizes;               // MillraceSize
  std::deque<std::vector<std::int64_t>> shapes;  // that tensors point to
};

/// Whether the host asks for an output.
bool asks_for_outputs(const MillraceSubnet& subnet);

/// As the library infers them. Where it cannot, two runs tell: on zeros and on other numbers.
/// LibraryFailure if both fail, or an output is no tensor.
FoundOutputs find_outputs(OnnxSession& session, const MillraceSubnet& subnet);

}  // namespace millrace_onnxruntime
