#include "engine/tiled/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/file.h"
#include "board/board.h"

namespace millrace::engine::tiled {
namespace {

constexpr std::array<std::string_view, 6> known_settings{
    "scratchpad_kib", "between_kib", "parts", "check", "fuse", "copy"};

/// Size of one core's second-level cache.
Bytes level_2_cache() {
  constexpr Bytes usual{256 * 1024};
  for (const board::Cache& cache : board::this_machine().caches)
    if (cache.level == 2) return cache.size;
  return usual;
}

using GivenSettings = std::map<std::string, std::string>;

struct NumberSetting {
  std::string key, what;
  std::int64_t most = 1, usual = 1;
};

std::int64_t number_of(const GivenSettings& given, const NumberSetting& setting) {
  const auto found = given.find(setting.key);
  if (found == given.end()) return setting.usual;
  const std::string& text = found->second;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1 ||
      number > setting.most)
    throw InputError("tiled." + setting.key, fmt::format("found '{}', expected {} from 1 to {}",
                                                         text, setting.what, setting.most));
  return number;
}

bool yes_or_no(const GivenSettings& given, const std::string& key, bool usual) {
  const auto found = given.find(key);
  if (found == given.end()) return usual;
  if (found->second != "yes" && found->second != "no")
    throw InputError("tiled." + key, fmt::format("found '{}', expected yes or no", found->second));
  return found->second == "yes";
}

/// A core with AVX-512, as measured once; good enough to choose between tilings elsewhere.
workload::TileTarget usual_target() {
  workload::TileTarget target;
  target.macs_per_second = 7.8e10;
  target.pixels_together = 32;
  target.gathered_piece_seconds = 5.9e-9;
  target.window_numbers_per_second = 2e10;
  target.window_row_seconds = 1.25e-8;
  target.values_per_second = 5.5e9;
  target.bytes_per_second = 1.3e10;
  target.run_seconds = 2e-7;
  target.row_seconds = 2.4e-8;
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
  const std::int64_t kib = number_of(
      given, {"scratchpad_kib", "a number of KiB", 1 << 20, level_2_cache().count / 1024});
  const std::int64_t parts = number_of(given, {"parts", "a number of networks", 64, 1});
  settings.target.scratchpad = Bytes{kib * 1024 / parts};
  if (given.contains("between_kib")) {
    const std::int64_t between = number_of(given, {"between_kib", "a number of KiB", 1 << 20, 1});
    settings.target.between = {
        {"between", Bytes{between * 1024 / parts}, settings.target.bytes_per_second / 2}};
  }
  settings.check = yes_or_no(given, "check", settings.check);
  settings.fuse = yes_or_no(given, "fuse", settings.fuse);
  settings.copy = yes_or_no(given, "copy", settings.copy);
  settings.target.may_overlap = settings.copy;
  return settings;
}

}  // namespace millrace::engine::tiled
