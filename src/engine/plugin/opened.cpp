#include "engine/plugin/opened.h"

#include <fmt/format.h>

#include <compare>
#include <map>
#include <mutex>

#include "base/error.h"
#include "engine/plugin/places.h"

namespace millrace::engine::plugin {
namespace {

const Library& load_library_of(const std::string& name, const EngineOptions& options) {
  const auto file = file_of(name, options);
  if (!file)
    throw InputError("engine " + name, "there is no plug-in of this name; name its file with "
                                       "⟨engine_library⟩ " + name + "=FILE");
  const Library& library = load_library(*file);
  if (library.name != name)
    throw InputError(file->string(), fmt::format("is the engine '{}', expected '{}'; name it so",
                                                 library.name, name));
  return library;
}

/// All that open() is told.
struct Opening {
  std::filesystem::path file, sdk, compiled;
  std::map<std::string, std::string> settings;
  auto operator<=>(const Opening&) const = default;
};

Opening opening_of(const Library& library, const EngineOptions& options) {
  Opening opening{library.file, library_of_sdk(library.name, options), options.compiled, {}};
  if (const auto at = options.settings.find(library.name); at != options.settings.end())
    opening.settings = at->second;
  return opening;
}

}  // namespace

std::shared_ptr<const Instance> open(const std::string& name, const EngineOptions& options) {
  struct Instances {
    std::mutex mutex;
    std::map<Opening, std::shared_ptr<const Instance>> by_opening;  // sharers: engines
  };
  // Never destroyed: calls that hang may use an instance until the process ends.
  static Instances& instances = *new Instances;
  const Library& library = load_library_of(name, options);
  const Opening opening = opening_of(library, options);
  {
    const std::lock_guard lock(instances.mutex);
    if (const auto at = instances.by_opening.find(opening); at != instances.by_opening.end())
      return at->second;
  }
  // Not under the lock, as it is foreign code; of two at once the first is kept.
  auto opened = std::make_shared<const Instance>(library, options);
  const std::lock_guard lock(instances.mutex);
  return instances.by_opening.emplace(opening, std::move(opened)).first->second;
}

}  // namespace millrace::engine::plugin
