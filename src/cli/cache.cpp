// millrace cache, and where other verbs find the cache folder
#include "cli/cache.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/progress.h"
#include "cli/verbs.h"

namespace millrace::cli {
namespace {

constexpr Bytes most_packed{std::int64_t{4} << 30};

std::filesystem::path packed_folder() { return cache_folder() / "packed"; }

struct CacheOptions {
  bool clear = false, json = false;
};

void bind(CLI::App& verb, CacheOptions& options) {
  verb.add_flag("--clear", options.clear, "Remove all of it; it is made again when needed");
  verb.add_flag("--json", options.json, "For programs");
}

bool is_profile(const std::filesystem::path& path) {
  return path.filename().string().ends_with(".profile.json");
}

/// The stored profiles; none if the folder is not there.
std::vector<std::filesystem::path> profiles() {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator each(cache_folder(), error), end; !error && each != end;
       each.increment(error))
    if (is_profile(each->path())) paths.push_back(each->path());
  return paths;
}

int run(const CacheOptions& options) {
  const Store packed(packed_folder(), most_packed);
  const auto stored = profiles();
  const Store::Contents contents = packed.contents();
  if (options.clear) {
    std::error_code ignored;  // what stays is told below
    for (const auto& path : stored) std::filesystem::remove(path, ignored);
    packed.shrink({});
  }
  const auto left = static_cast<std::int64_t>(profiles().size()) + packed.contents().files;
  const char* const done = options.clear ? left == 0 ? "removed: " : "not all removed: " : "";
  if (options.json)
    fmt::print("{}\n", nlohmann::json{{"folder", cache_folder().string()},
                                      {"profiles", stored.size()},
                                      {"packed_weights", contents.files},
                                      {"packed_weights_bytes", contents.size.count},
                                      {"cleared", options.clear && left == 0}}
                           .dump(1));
  else
    fmt::print("{}{} profiles and {} packed weights, {}, in {}\n", done, stored.size(),
               contents.files, to_text(contents.size), cache_folder().string());
  return options.clear && left > 0 ? answer_is_no : 0;
}

}  // namespace

std::filesystem::path cache_folder() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder != '\0')
    return std::filesystem::path(folder) / "millrace";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return std::filesystem::path(home) / ".cache" / "millrace";
  return std::filesystem::temp_directory_path() / "millrace";
}

void bind_cache(CLI::App& verb, bool& use_cache) {
  verb.add_flag("!--no-cache", use_cache,
                "Neither read nor write the cache folder: stored profiles, packed weights");
}

engine::EngineOptions engine_options(bool use_cache) {
  if (!use_cache) return {};
  return {std::make_shared<Store>(packed_folder(), most_packed, [](const std::string& reason) {
    note("packed weights are not kept for the next time: " + reason);
  })};
}

void add_cache(CLI::App& app, int& exit_code) {
  add_verb<CacheOptions>(
      app, exit_code,
      {{"cache", "What is kept for the next time: measured profiles and packed weights",
        "millrace cache --clear"},
       bind,
       run});
}

}  // namespace millrace::cli
