#pragma once
// The user's cache folder: profiles and packed weights of earlier runs.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/store.h"
#include "engine/options.h"
#include "product/context.h"

namespace millrace::product {

/// "$XDG_CACHE_HOME/millrace", else ".cache/millrace" in the user's home. Nothing if neither is
/// known, or if others own it or may write to it, as what is read there is believed; that is noted
/// once.
std::optional<std::filesystem::path> cache_folder(const millrace::Context& context = {});
/// The same, and it is there if it can be made: what is in it is for this user.
std::optional<std::filesystem::path> make_cache_folder(const millrace::Context& context = {});

/// For an engine that is to be measured: its library and settings, and where it keeps what it
/// compiles.
engine::EngineOptions measuring_options(const millrace::Context& context);
/// For an engine that is to run a plan: it also keeps packed weights in the cache folder, or,
/// without the cache, nowhere. A folder that cannot be written is told once.
engine::EngineOptions engine_options(const millrace::Context& context);

/// What is kept for the next time.
struct CacheContents {
  std::optional<std::filesystem::path> folder = {};  // none: see cache_folder()
  std::size_t profiles = 0;
  Store::Contents packed = {};  // weights
};
CacheContents cache_contents(const millrace::Context& context = {});

/// What went, and what stayed.
struct ClearedCache {
  CacheContents removed;
  std::vector<std::string> left;  // "PATH: reason"
  bool failed = false;            // something was to go and is still there
};
/// Removes all of it, whatever it is, and what killed processes left.
ClearedCache clear_cache(const millrace::Context& context = {});

}  // namespace millrace::product
