#include "application/codecs/codecs.h"

#include <fmt/format.h>

#include "application/loading_error.h"
#include "base/error.h"

namespace millrace::application {
namespace {

const Codecs& load() {
  constexpr const char* name = "libmillrace_codecs.so";
  const auto fail = [&] {
    throw EngineError(
        fmt::format("image and video files need {}, which cannot be loaded: {}; "
                    "install Millrace again",
                    name, loading_error()));
  };
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail();
  using Entry = const Codecs* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "millrace_codecs"));
  if (entry == nullptr) fail();
  return *entry();
}

}  // namespace

const Codecs& codecs() {
  static const Codecs& loaded = load();
  return loaded;
}

}  // namespace millrace::application
