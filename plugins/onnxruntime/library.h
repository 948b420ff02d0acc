#pragma once
// The library libonnxruntime.so: found, loaded once in a process, and asked for its functions.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "api.h"
#include "millrace/engine.h"

namespace millrace_onnxruntime {

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

/// The library that the user names; if none is named, the first at the usual places that can be
/// used. Thread-safe.
LoadedLibrary load_library(const MillraceOpening& opening);

/// The file in the folder of packages that the library lies in, or in one of the user's; empty: it
/// is in none.
std::filesystem::path find_in_packages(const OrtLibrary& library, const MillraceOpening& opening,
                                       const std::filesystem::path& file);

/// What the folder holds under names that begin so, sorted; nothing if it cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder,
                                              std::string_view prefix);

}  // namespace millrace_onnxruntime
