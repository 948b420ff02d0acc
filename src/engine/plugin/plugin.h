#pragma once
// Engines that others build: include/millrace/engine.h is what they implement.
#include <memory>
#include <string>
#include <vector>

#include "engine/device.h"
#include "engine/engine.h"
#include "engine/options.h"

namespace millrace::engine::plugin {

/// Whether there is a plug-in of this name. InputError if there are two.
bool is_there(const std::string& name, const EngineOptions& options);

/// Whether its library can be loaded and opened, or why not. InputError for wrong options.
Verdict can_start(const std::string& name, const EngineOptions& options);

/// What it reaches beside the host's cores; it must be able to start.
std::vector<ReachedDevice> devices(const std::string& name, const EngineOptions& options);

/// Subnets are shown to the plug-in as ONNX, with plain tensors at their borders. What it compiles
/// is kept in the cache and taken from bundles. InputError if it cannot be loaded.
std::unique_ptr<Engine> make(const std::string& name, const EngineOptions& options);

/// The plug-in of this file, whatever its name.
std::unique_ptr<Engine> make_from(const std::filesystem::path& file, EngineOptions options);

}  // namespace millrace::engine::plugin
