#include "application/codecs/codecs.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "application/loading_error.h"
#include "base/error.h"

namespace millrace::application {
namespace {

constexpr std::string_view codecs_library = "libmillrace_codecs.so";

/// Wheels have no such library; elsewhere a part of the installation is missing.
[[noreturn]] void cannot_load() {
  const std::string reason = loading_error();
  if (reason.starts_with(fmt::format("{}: cannot open", codecs_library)))
    throw EngineError(
        fmt::format("image and video files need {}, which this installation lacks; give arrays "
                    "(.npy), or install the Debian package of Millrace; where pip installed it, "
                    "millrace.Detector in Python reads them with cv2 or pillow",
                    codecs_library));
  throw EngineError(
      fmt::format("image and video files need {}, which cannot be loaded: {}; install Millrace "
                  "again",
                  codecs_library, reason));
}

const Codecs& load() {
  void* const library = dlopen(codecs_library.data(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) cannot_load();
  using Entry = const Codecs* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "millrace_codecs"));
  if (entry == nullptr) cannot_load();
  return *entry();
}

}  // namespace

const Codecs& codecs() {
  static const Codecs& loaded = load();
  return loaded;
}

}  // namespace millrace::application
