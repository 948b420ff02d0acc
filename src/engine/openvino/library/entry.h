#pragma once
// The border between the program and the part of this engine that is linked to OpenVINO.
#include <memory>
#include <vector>

#include "engine/device.h"
#include "engine/engine.h"
#include "engine/options.h"

namespace millrace::engine::openvino {

struct Library {
  std::unique_ptr<Engine> (*make)(const EngineOptions& options);
  std::vector<ReachedDevice> (*devices)();
};

/// The name of the module's only function: const Library* ().
inline constexpr const char* library_function = "millrace_openvino";

}  // namespace millrace::engine::openvino
