#include "engine/tiled/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/file.h"
#include "board/board.h"

namespace millrace::engine::tiled {
namespace {

constexpr std::array<std::string_view, 4> known_settings{"scratchpad_kib", "check", "fuse", "copy"};

/// Of one core.
Bytes level_2_cache() {
  constexpr Bytes usual{256 * 1024};
  for (const board::Cache& cache : board::this_machine().caches)
    if (cache.level == 2) return cache.size;
  return usual;
}

Bytes scratchpad_of(const std::string& text) {
  constexpr std::int64_t most_kib = 1 << 20;
  std::int64_t kib = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), kib);
  if (error != std::errc{} || end != text.data() + text.size() || kib < 1 || kib > most_kib)
    throw InputError(
        "tiled.scratchpad_kib",
        fmt::format("found '{}', expected a number of KiB from 1 to {}", text, most_kib));
  return Bytes{kib * 1024};
}

using GivenSettings = std::map<std::string, std::string>;

bool yes_or_no(const GivenSettings& given, const std::string& key, bool usual) {
  const auto found = given.find(key);
  if (found == given.end()) return usual;
  if (found->second != "yes" && found->second != "no")
    throw InputError("tiled." + key, fmt::format("found '{}', expected yes or no", found->second));
  return found->second == "yes";
}

/// Of a core with AVX-512, as measured once; good enough to choose between tilings elsewhere.
workload::TileTarget usual_target() {
  workload::TileTarget target;
  target.macs_per_second = 5e10;
  target.channel_macs_per_second = 1.4e10;
  target.pixels_together = 32;
  target.gathered_per_second = 3e9;
  target.values_per_second = 6e9;
  target.bytes_per_second = 1.5e10;
  target.run_seconds = 2e-7;
  target.row_seconds = 5e-9;
  return target;
}

}  // namespace

TiledSettings settings_of(const EngineOptions& options) {
  TiledSettings settings{usual_target()};
  const auto found = options.settings.find("tiled");
  const GivenSettings given = found == options.settings.end() ? GivenSettings{} : found->second;
  for (const auto& [key, value] : given)
    if (std::ranges::find(known_settings, key) == known_settings.end())
      throw InputError("tiled." + key,
                       fmt::format("there is no such option{}", did_you_mean(key, known_settings)));
  const auto size = given.find("scratchpad_kib");
  settings.target.scratchpad = size == given.end() ? level_2_cache() : scratchpad_of(size->second);
  settings.check = yes_or_no(given, "check", settings.check);
  settings.fuse = yes_or_no(given, "fuse", settings.fuse);
  settings.copy = yes_or_no(given, "copy", settings.copy);
  settings.target.may_overlap = settings.copy;
  return settings;
}

}  // namespace millrace::engine::tiled
