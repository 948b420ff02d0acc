#pragma once
// The plain loops of network::evaluate on one core: what other engines are compared with.
#include <memory>

#include "engine/engine.h"

namespace millrace::engine::reference {

/// Single-threaded on any processor, deterministic, only plain tensors, nothing fused.
std::unique_ptr<Engine> make();

}  // namespace millrace::engine::reference
