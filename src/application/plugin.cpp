#include "application/plugin.h"

#include <fmt/format.h>

#include <utility>

#include "application/checked_processing.h"
#include "application/loading_error.h"
#include "base/error.h"

namespace millrace::application {
namespace {

constexpr const char* entry = "millrace_plugin";

/// What `call` throws as an InputError of the plug-in.
template <class Call>
void guarded(const std::string& place, const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    throw InputError(place, error.what());
  } catch (...) {
    throw InputError(place, "threw something that is no std::exception");
  }
}

}  // namespace

void Plugins::Close::operator()(void* library) const { dlclose(library); }

void Plugins::load(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    throw InputError(path.string(), "is no file, expected a plug-in's shared library (.so)");
  const std::string place = std::filesystem::absolute(path).string();  // not looked for elsewhere
  std::unique_ptr<void, Close> library(dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library == nullptr)
    throw InputError(path.string(),
                     fmt::format("cannot be loaded as a plug-in: {}", loading_error()));
  using Entry = const Plugin* (*)();
  const auto function = reinterpret_cast<Entry>(dlsym(library.get(), entry));
  if (function == nullptr)
    throw InputError(path.string(),
                     fmt::format("has no function '{}', which every plug-in has; declare it extern "
                                 "\"C\" and build the library with visible symbols",
                                 entry));
  const Plugin* plugin = nullptr;
  guarded(path.string(), [&] { plugin = function(); });
  if (plugin == nullptr) throw InputError(path.string(), "its function gave no plug-in");
  if (plugin->interface != plugin_interface)
    throw InputError(path.string(),
                     fmt::format("was built for version {} of the plug-in interface, expected {}; "
                                 "build it again with the headers of this version",
                                 plugin->interface, plugin_interface));
  if (plugin->add == nullptr) throw InputError(path.string(), "the plug-in adds nothing");
  Registry added;
  guarded(path.string(), [&] {
    plugin->add(added);
    for (const auto& [name, make] : added.makers())
      registry_.add(name, [make = make, origin = path.string()](const Setup& setup) {
        auto made = make(setup);
        return made ? checked_processing(std::move(made), setup.network, origin) : nullptr;
      });
  });
  libraries_.push_back(std::move(library));
}

}  // namespace millrace::application
