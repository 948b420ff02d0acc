#pragma once
// Who runs what is prepared for a processor, and the options of its sessions.
#include <filesystem>
#include <mutex>

#include "board/board.h"
#include "engine/onnxruntime/library.h"
#include "engine/onnxruntime/settings.h"

namespace millrace::engine::onnxruntime {

struct Provider {
  const OrtLibrary* library = nullptr;
  ProviderSettings settings;            // whose `provider` is the one meant here
  const OrtEpDevice* device = nullptr;  // of a plug-in
  std::mutex* turns = nullptr;          // held over each call, where sessions disturb each other
  std::filesystem::path compiled = {};  // what it compiles is kept here; empty: nowhere
};

/// Adds it to the options; the processor's own provider needs no adding. EngineError with the
/// library's reason.
void append(const Provider& provider, int threads, OrtSessionOptions& options);

/// Whether it can be added, or the library's reason.
Verdict can_append(const Provider& provider);

}  // namespace millrace::engine::onnxruntime
