#pragma once
// The GPUs and NPUs that the library reaches on this machine.
#include <mutex>
#include <string>
#include <vector>

#include "engine/device.h"
#include "engine/onnxruntime/library.h"
#include "engine/onnxruntime/settings.h"

namespace millrace::engine::onnxruntime {

struct FoundDevice {
  ReachedDevice reached;
  std::string provider;                 // that runs there
  const OrtEpDevice* plugin = nullptr;  // of the WebGPU plug-in; else null
  std::mutex* turns = nullptr;          // of all sessions of the plug-in; else null
};

/// That of the provider which is set, or, if it runs on cores, the GPUs of the WebGPU plug-in.
std::vector<FoundDevice> find_devices(const OrtLibrary& library, const ProviderSettings& settings);

}  // namespace millrace::engine::onnxruntime
