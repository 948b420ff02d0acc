#pragma once
// Plug-ins by name, opened with the user's options.
#include <memory>
#include <string>

#include "engine/plugin/instance.h"

namespace millrace::engine::plugin {

/// Opened once in a process for whoever asks alike, as an SDK may take seconds for it. InputError
/// if there is no such plug-in, and as Instance.
std::shared_ptr<const Instance> open(const std::string& name, const EngineOptions& options);

}  // namespace millrace::engine::plugin
