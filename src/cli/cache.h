#pragma once
// The user's cache folder: profiles and packed weights of earlier runs.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "base/store.h"
#include "engine/options.h"

namespace millrace::cli {

/// "$XDG_CACHE_HOME/millrace", else ".cache/millrace" in the user's home.
std::filesystem::path cache_folder();

void bind_cache(CLI::App& verb, bool& use_cache);  // --no-cache

/// For an engine that is to run a plan: it keeps packed weights in the cache folder, or, without
/// the cache, nowhere. A folder that cannot be written is told once.
engine::EngineOptions engine_options(bool use_cache);

}  // namespace millrace::cli
