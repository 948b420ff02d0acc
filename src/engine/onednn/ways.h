#pragma once
// In which ways a layer can run.
#include <vector>

#include "engine/onednn/builder.h"

namespace millrace::engine::onednn {

/// The engine's own choice first; then, for what multiplies and adds, other kernels and the
/// precisions that the processor has instructions for. The layer must be supported.
std::vector<board::Variant> ways_to_run(const Device& device, const network::Network& network,
                                        LayerId layer, const board::Processor& processor);

}  // namespace millrace::engine::onednn
