#pragma once
// The plain loops of network::evaluate on one core: what other engines are compared with.
#include <memory>

#include "engine/engine.h"
#include "engine/options.h"

namespace millrace::engine::reference {

/// Single-threaded on any processor, deterministic, only plain tensors, nothing fused.
std::unique_ptr<Engine> make(const EngineOptions& options = {});

}  // namespace millrace::engine::reference
