#pragma once
// Which subnets the NPU is given.
#include <cstddef>
#include <string>

#include "millrace/engine.h"

namespace millrace_rknn {

struct NpuAnswer {
  MillraceReason reason = millrace_runs;
  std::size_t node = 0;  // to blame
  std::string text;
};

/// From the toolkit's list of operators, as far as they were tried here. The toolkit itself may
/// refuse more when it converts.
NpuAnswer can_run(const MillraceSubnet& subnet);

/// Whether its layer has a choice between float16 and int8.
bool multiplies(const MillraceNode& node);

bool has_int8(const MillraceSubnet& subnet);

}  // namespace millrace_rknn
