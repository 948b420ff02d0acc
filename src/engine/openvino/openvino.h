#pragma once
// OpenVINO's kernels for CPU cores, and what else OpenVINO reaches: GPUs and NPUs.
#include <memory>
#include <vector>

#include "engine/device.h"
#include "engine/engine.h"
#include "engine/options.h"

namespace millrace::engine::openvino {

/// Whether OpenVINO can be loaded, or what is missing. `options.libraries` may name the file of
/// OpenVINO's own library, which must be of the version that the engine was built with.
Verdict can_start(const EngineOptions& options);

/// The GPUs and NPUs that OpenVINO finds. The engine must be able to start.
std::vector<ReachedDevice> devices(const EngineOptions& options);

/// Subnets are handed to OpenVINO as ONNX models, with plain tensors at their borders. On cores in
/// float32, or bfloat16 where the processor has instructions for it. `options.settings` go to
/// OpenVINO's compile_model. The engine must be able to start.
std::unique_ptr<Engine> make(const EngineOptions& options);

}  // namespace millrace::engine::openvino
