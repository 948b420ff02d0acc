#pragma once
// What a user may set: EngineOptions.settings["onnxruntime"]. docs/engines.md lists the names.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "board/board.h"
#include "engine/options.h"

namespace millrace::engine::onnxruntime {

/// A provider is the part of ONNX Runtime that runs nodes on one kind of hardware.
struct ProviderSettings {
  std::string provider = "cpu";                // "cpu", "xnnpack", "cuda", ... or "webgpu"
  std::map<std::string, std::string> options;  // of the provider, by its own names
  std::map<std::string, std::string> session;  // "session.KEY" and the like
  bool allow_software = false;                 // drivers that compute a GPU's work on cores
  std::filesystem::path webgpu_library;        // empty: looked for
};

/// InputError with the known words for a provider that there is not, a value that is no such value,
/// and options of a provider that takes none.
ProviderSettings read_settings(const EngineOptions& options);

/// Where the provider runs.
board::ProcessorKind processor_kind(const ProviderSettings& settings);

/// Only where they differ from those that are used when nothing is set: "provider=xnnpack".
std::string to_text(const ProviderSettings& settings);

}  // namespace millrace::engine::onnxruntime
