#pragma once
// Who runs what is prepared for a processor, and the options of its sessions.
#include <filesystem>
#include <mutex>
#include <string>

#include "library.h"
#include "settings.h"

namespace millrace_onnxruntime {

struct Provider {
  const OrtLibrary* library = nullptr;
  ProviderSettings settings;            // whose `provider` is the one meant here
  const OrtEpDevice* device = nullptr;  // of a plug-in
  std::mutex* turns = nullptr;          // held over each call, where sessions disturb each other
  std::filesystem::path compiled = {};  // what it compiles is kept here; empty: nowhere
};

/// Adds it to the options; the processor's own provider needs no adding. LibraryFailure with the
/// library's reason.
void append(const Provider& provider, int threads, OrtSessionOptions& options);

/// Why it cannot be added; empty: it can.
std::string obstacle_to_append(const Provider& provider);

}  // namespace millrace_onnxruntime
