#pragma once
// The engine itself.
#include <memory>

#include "engine/engine.h"
#include "engine/options.h"

namespace millrace::engine::openvino {

/// EngineError if OpenVINO does not start.
std::unique_ptr<Engine> make_openvino(const EngineOptions& options);

}  // namespace millrace::engine::openvino
