#pragma once
// Subnets run by NVIDIA's GPUs: convolutions by cuDNN, products by cuBLASLt, the rest by kernels of
// ours. All libraries are loaded when they are asked for; building needs neither them nor headers.
#include <memory>
#include <vector>

#include "engine/device.h"
#include "engine/engine.h"
#include "engine/options.h"

namespace millrace::engine::cuda {

/// Whether there is a GPU with its driver and the compiler of kernels, or what is missing and how
/// to install it. InputError for wrong settings.
Verdict can_start(const EngineOptions& options);

/// The GPUs that the driver reaches: "gpu0", ...
std::vector<ReachedDevice> devices(const EngineOptions& options);

/// EngineError if it cannot start; InputError for wrong settings.
std::unique_ptr<Engine> make(const EngineOptions& options);

}  // namespace millrace::engine::cuda
