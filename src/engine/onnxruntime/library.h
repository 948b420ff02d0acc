#pragma once
// The library libonnxruntime.so: found, loaded once in a process, and asked for its functions.
#include <filesystem>
#include <string>

#include "engine/onnxruntime/api.h"
#include "engine/options.h"

namespace millrace::engine::onnxruntime {

/// A loaded library, which stays loaded as long as the process.
struct OrtLibrary {
  std::filesystem::path path;  // as it was asked for: a file, or a name for the system's loader
  std::string version;         // "1.32.0"
  int minor = 0;               // 32
  Api api{};
  Handle<OrtEnv> environment{nullptr, nullptr};
  Handle<OrtMemoryInfo> host{nullptr, nullptr};  // ordinary memory of the processor
};

/// A library, or one sentence that says why there is none and what to do.
struct LoadedLibrary {
  const OrtLibrary* library = nullptr;
  std::string reason;
};

/// The library that the options or MILLRACE_ONNXRUNTIME name; if none is named, the first at the
/// usual places that can be used. Thread-safe.
LoadedLibrary load_library(const EngineOptions& options);

}  // namespace millrace::engine::onnxruntime
