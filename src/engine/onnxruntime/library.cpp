#include "engine/onnxruntime/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <system_error>

#include "engine/onnxruntime/places.h"

namespace millrace::engine::onnxruntime {
namespace {

constexpr int oldest_minor = 21, plugin_minor = 22;
constexpr const char* how_to_install =
    "install it with 'tools/fetch_engines.py onnxruntime', with 'pip install onnxruntime' in a "
    "Python environment, or on Debian 13 with 'apt-get install libonnxruntime1.21'; or name the "
    "file of the library in the environment variable MILLRACE_ONNXRUNTIME";

/// The two functions that every version begins with.
struct ApiBase {
  const void* const* (*get_api)(std::uint32_t version);
  const char* (*get_version)();
};

/// The minor of "1.21.0"; -1 for another major.
int minor_of(const std::string& version) {
  if (!version.starts_with("1.")) return -1;
  return static_cast<int>(std::strtol(version.c_str() + 2, nullptr, 10));
}

/// The processor that an ELF file is for; 0: it is none.
unsigned machine_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, sizeof(Elf64_Ehdr)> bytes{};
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const bool is_elf = file && std::string_view(bytes.data(), SELFMAG) == ELFMAG;
  constexpr std::size_t at = offsetof(Elf64_Ehdr, e_machine);
  return is_elf ? static_cast<unsigned char>(bytes[at]) +
                      256u * static_cast<unsigned char>(bytes[at + 1])
                : 0;
}

/// What is wrong with a file before the system's loader is asked, whose words say less.
std::string obstacle(const std::filesystem::path& path) {
  if (!path.has_parent_path()) return {};  // a name, which the loader looks for
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return "it does not exist";
  if (std::filesystem::is_directory(path, error)) return "it is a folder, expected the library";
  if (!std::filesystem::is_regular_file(path, error)) return "it is no file, expected the library";
  const unsigned machine = machine_of(path);
  if (machine == 0) return "it is no shared library";
  if (machine != machine_of("/proc/self/exe")) return "it is built for another kind of processor";
  return {};
}

std::string not_usable(const std::filesystem::path& path, const std::string& reason) {
  return fmt::format("{} cannot be used as ONNX Runtime: {}", path.string(), reason);
}

/// Telemetry has to be off before the library is loaded, as it looks then.
void* open_quietly(const std::filesystem::path& path) {
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);
  return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// Fills the library, or says why not.
std::string load(const std::filesystem::path& path, OrtLibrary& library) {
  if (const std::string reason = obstacle(path); !reason.empty()) return reason;
  void* const opened = open_quietly(path);
  if (opened == nullptr) return ::dlerror();
  const auto entry = reinterpret_cast<const ApiBase* (*)()>(::dlsym(opened, "OrtGetApiBase"));
  if (entry == nullptr) return "it has no function OrtGetApiBase";
  const ApiBase* const base = entry();
  library.path = path;
  library.version = base->get_version();
  const int minor = library.minor = minor_of(library.version);
  if (minor < oldest_minor)
    return fmt::format("it is version {}, but 1.{} or a later 1.x is needed", library.version,
                       oldest_minor);
  const void* const* const table =
      base->get_api(static_cast<std::uint32_t>(std::min(minor, plugin_minor)));
  if (table == nullptr) return fmt::format("its version {} gives no functions", library.version);
  library.api = api_of(table, minor);
  OrtEnv* environment = nullptr;
  OrtMemoryInfo* host = nullptr;
  // What it has to say comes back from its calls; nothing is to be printed.
  std::string failed =
      failure(library.api, library.api.create_env(log_fatal, "millrace", &environment));
  if (failed.empty())
    failed = failure(library.api, library.api.create_cpu_memory_info(1, 0, &host));
  library.environment = {environment, [](OrtEnv*) {}};  // stays, as the library does
  library.host = {host, library.api.release_memory_info};
  return failed;
}

/// One attempt for each path: what is loaded stays, and so does a reason.
LoadedLibrary load_once(const std::filesystem::path& path) {
  struct Attempts {
    std::mutex mutex;
    std::map<std::filesystem::path, std::pair<OrtLibrary, std::string>> by_path;
  };
  // Never destroyed: sessions may be released when the process ends.
  static Attempts& attempts = *new Attempts;
  const std::lock_guard lock(attempts.mutex);
  const auto [at, is_new] = attempts.by_path.try_emplace(path);
  auto& [library, reason] = at->second;
  if (is_new) reason = load(path, library);
  if (reason.empty()) return {&library, {}};
  return {nullptr, not_usable(path, reason)};
}

/// The first that can be used; else what was wrong with those that are there.
LoadedLibrary load_usual() {
  std::string found;
  for (const std::filesystem::path& path : usual_libraries()) {
    LoadedLibrary loaded = load_once(path);
    if (loaded.library != nullptr) return loaded;
    if (path.has_parent_path()) found += loaded.reason + "; ";
  }
  if (found.empty())
    found = "the library libonnxruntime.so was found in none of the usual places; ";
  return {nullptr, found + how_to_install};
}

}  // namespace

LoadedLibrary load_library(const EngineOptions& options) {
  std::filesystem::path named;
  if (const auto at = options.libraries.find("onnxruntime"); at != options.libraries.end())
    named = at->second;
  else if (const char* const variable = std::getenv("MILLRACE_ONNXRUNTIME"))
    named = variable;
  if (named.empty()) return load_usual();
  LoadedLibrary loaded = load_once(named);
  if (loaded.library == nullptr) loaded.reason += std::string("; ") + how_to_install;
  return loaded;
}

}  // namespace millrace::engine::onnxruntime
