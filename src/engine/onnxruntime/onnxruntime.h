#pragma once
// Subnets run by ONNX Runtime: on cores, on GPUs with Vulkan, and with the providers of a vendor.
// The library is loaded when it is asked for; building needs neither it nor its headers.
#include <memory>
#include <vector>

#include "engine/device.h"
#include "engine/engine.h"
#include "engine/options.h"

namespace millrace::engine::onnxruntime {

/// Whether there is a library of a fitting version whose provider can be used, or what was found
/// and how to install one. InputError for wrong settings.
Verdict can_start(const EngineOptions& options);

/// GPUs that the WebGPU plug-in reaches, or the device of the provider that is set.
std::vector<ReachedDevice> devices(const EngineOptions& options);

/// EngineError if it cannot start; InputError for wrong settings.
std::unique_ptr<Engine> make(const EngineOptions& options);

}  // namespace millrace::engine::onnxruntime
