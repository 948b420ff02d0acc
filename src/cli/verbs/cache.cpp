// millrace cache
#include "api/cache.h"

#include <fmt/format.h>

#include <optional>

#include "api/json/machine.h"
#include "base/printable.h"
#include "cli/options/common.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {

namespace {

struct CacheOptions {
  bool clear = false, json = false;
};

void bind(CLI::App& verb, CacheOptions& options) {
  verb.add_flag("--clear", options.clear, "Remove all of it. It is made again when it is needed");
  bind_json(verb, options.json);
}

void print(const char* done, const api::CacheContents& cache) {
  fmt::print("{}{} profiles and {} packed weights, {}, in {}\n", done, cache.profiles,
             cache.packed.files, to_text(cache.packed.size),
             cache.folder ? printable(cache.folder->string()) : "no folder");
}

void print(const api::ClearedCache& cleared) {
  print(cleared.failed ? "not all removed: " : "removed: ", cleared.removed);
  for (const std::string& each : cleared.left) fmt::print("left: {}\n", printable(each));
}

int run(const CacheOptions& options) {
  const api::Context context = at_terminal();
  const api::CacheContents cache = api::cache_contents(context);
  std::optional<api::ClearedCache> cleared;
  if (options.clear) cleared = api::clear_cache(context);
  if (options.json)
    fmt::print("{}", cache_json(cache, cleared ? &*cleared : nullptr));
  else if (cleared)
    print(*cleared);
  else
    print("", cache);
  return cleared && cleared->failed ? answer_is_no : 0;
}

}  // namespace

void add_cache(CLI::App& app, int& exit_code) {
  add_verb<CacheOptions>(
      app, exit_code,
      {{"cache",
        "Show or remove what is kept for the next run: measured profiles, and weights in the "
        "engine's layout",
        "millrace cache --clear"},
       bind,
       run});
}

}  // namespace millrace::cli
