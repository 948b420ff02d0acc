#pragma once
// What a user may set. docs/installing.md has the names.
#include <filesystem>
#include <map>
#include <string>

#include "millrace/engine.h"

namespace millrace_onnxruntime {

/// A provider is the part of ONNX Runtime that runs nodes on one kind of hardware.
struct ProviderSettings {
  std::string provider = "cpu";                // "cpu", "xnnpack", "cuda", ... or "webgpu"
  std::map<std::string, std::string> options;  // of the provider, by its own names
  std::map<std::string, std::string> session;  // "session.KEY" and the like
  bool allow_software = false;                 // drivers that compute a GPU's work on cores
  std::filesystem::path webgpu_library;        // empty: looked for
};

/// WrongSetting with the known words for a provider that there is not, a value that is no such value,
/// and options of a provider that takes none.
ProviderSettings read_settings(const MillraceOpening& opening);

/// Where the provider runs.
MillraceKind kind_of(const ProviderSettings& settings);

}  // namespace millrace_onnxruntime
