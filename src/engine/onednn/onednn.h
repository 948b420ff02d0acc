#pragma once
// Kernels of oneDNN for CPU cores.
#include <memory>

#include "engine/engine.h"
#include "engine/options.h"

namespace millrace::engine::onednn {

/// float32 through oneDNN's primitives, in the layouts they like; everything else through the
/// plain loops of network::evaluate.
std::unique_ptr<Engine> make(const EngineOptions& options = {});

}  // namespace millrace::engine::onednn
