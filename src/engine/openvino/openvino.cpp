#include "engine/openvino/openvino.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <mutex>
#include <system_error>

#include "base/error.h"
#include "engine/openvino/library/entry.h"

namespace millrace::engine::openvino {
namespace {

constexpr const char* module_name = "libmillrace_openvino.so";

struct Loaded {
  const Library* library = nullptr;
  std::string obstacle;  // why there is none
};

std::string loading_error() {
  const char* const text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

/// OpenVINO's own library, if a file is given: what is linked to it then finds it loaded.
std::string obstacle_of_given(const EngineOptions& options) {
  const auto given = options.libraries.find("openvino");
  if (given == options.libraries.end()) return {};
  std::error_code error;
  const auto kind = std::filesystem::status(given->second, error);  // a pipe would be waited for
  if (std::filesystem::exists(kind) && !std::filesystem::is_regular_file(kind))
    return given->second.string() + " is no file, expected the library";
  return dlopen(given->second.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr ? loading_error() : "";
}

Loaded load() {
  void* const module = dlopen(module_name, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr)
    return {nullptr, fmt::format("{} cannot be loaded: {}; install the version of OpenVINO that "
                                 "Millrace was built with, or build Millrace again",
                                 module_name, loading_error())};
  using Function = const Library* (*)();
  const auto function = reinterpret_cast<Function>(dlsym(module, library_function));
  if (function == nullptr) return {nullptr, loading_error()};
  return {function(), {}};
}

/// Once it is loaded it is the same for all, and stays: whoever has an engine runs its code.
Loaded loaded(const EngineOptions& options) {
  static std::mutex mutex;
  static Loaded known;
  const std::lock_guard lock(mutex);
  if (std::string obstacle = obstacle_of_given(options); !obstacle.empty())
    return {nullptr, std::move(obstacle)};
  if (known.library == nullptr) known = load();
  return known;
}

const Library& library(const EngineOptions& options) {
  const Loaded found = loaded(options);
  if (found.library == nullptr) throw EngineError("openvino: " + found.obstacle);
  return *found.library;
}

}  // namespace

Verdict can_start(const EngineOptions& options) {
  const Loaded found = loaded(options);
  return found.library == nullptr ? Verdict::no(found.obstacle) : Verdict::yes();
}

std::vector<ReachedDevice> devices(const EngineOptions& options) {
  return library(options).devices();
}

std::unique_ptr<Engine> make(const EngineOptions& options) {
  return library(options).make(options);
}

}  // namespace millrace::engine::openvino
