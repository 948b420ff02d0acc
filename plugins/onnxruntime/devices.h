#pragma once
// The devices on which the library runs layers here.
#include <mutex>
#include <string>
#include <vector>

#include "library.h"
#include "provider.h"
#include "settings.h"

namespace millrace_onnxruntime {

/// A device as engine.h describes it, and who runs there.
struct FoundDevice {
  std::string name, model, driver;
  MillraceKind kind = millrace_cores;
  Provider provider;
};

/// The cores; after them the device of the provider which is set or, if that runs on cores, the
/// GPUs of the WebGPU plug-in.
std::vector<FoundDevice> find_devices(const Provider& provider, const MillraceOpening& opening);

}  // namespace millrace_onnxruntime
