#include "library.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>

namespace millrace_onnxruntime {
namespace {

constexpr int oldest_minor = 17, plugin_minor = 22;
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
  return path.string() + " cannot be used as ONNX Runtime: " + reason;
}

/// Telemetry has to be off before the library is loaded, as it looks then. Afterwards the
/// environment is as it was.
void* open_quietly(const std::filesystem::path& path) {
  constexpr const char* variable = "ORT_DISABLE_TELEMETRY";
  std::optional<std::string> before;
  if (const char* const text = std::getenv(variable)) before = text;
  ::setenv(variable, "1", 1);
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  before ? ::setenv(variable, before->c_str(), 1) : ::unsetenv(variable);
  return library;
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
    return "it is version " + library.version + ", but 1." + std::to_string(oldest_minor) +
           " or a later 1.x is needed";
  const void* const* const table =
      base->get_api(static_cast<std::uint32_t>(std::min(minor, plugin_minor)));
  if (table == nullptr) return "its version " + library.version + " gives no functions";
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

/// The library's files and its name for the system's loader, in the order in which they are tried.
std::vector<std::filesystem::path> usual_libraries(const MillraceOpening& opening) {
  constexpr std::string_view name = "libonnxruntime.so";
  std::vector<std::filesystem::path> libraries;
  const auto add = [&](const std::filesystem::path& folder) {
    for (const std::filesystem::path& file : entries_of(folder, name)) libraries.push_back(file);
  };
  for (std::size_t i = 0; i < opening.package_folder_count; ++i)
    add(std::filesystem::path(opening.package_folders[i]) / "onnxruntime" / "capi");
  libraries.emplace_back("libonnxruntime.so.1");
  for (const char* folder : {"/usr/local/lib", "/usr/lib", "/usr/lib/x86_64-linux-gnu",
                             "/usr/lib/aarch64-linux-gnu", "/usr/lib64"})
    add(folder);
  return libraries;
}

/// The first that can be used; else what was wrong with those that are there.
LoadedLibrary load_usual(const MillraceOpening& opening) {
  std::string found;
  for (const std::filesystem::path& path : usual_libraries(opening)) {
    LoadedLibrary loaded = load_once(path);
    if (loaded.library != nullptr) return loaded;
    if (path.has_parent_path()) found += loaded.reason + "; ";
  }
  if (found.empty())
    found = "the library libonnxruntime.so was found in none of the usual places; ";
  return {nullptr, found + how_to_install};
}

}  // namespace

LoadedLibrary load_library(const MillraceOpening& opening) {
  if (opening.library == nullptr) return load_usual(opening);
  LoadedLibrary loaded = load_once(opening.library);
  if (loaded.library == nullptr) loaded.reason += std::string("; ") + how_to_install;
  return loaded;
}

std::filesystem::path find_in_packages(const OrtLibrary& library, const MillraceOpening& opening,
                                       const std::filesystem::path& file) {
  // Beside "FOLDER/onnxruntime/capi/libonnxruntime.so".
  std::vector<std::filesystem::path> folders{
      library.path.parent_path().parent_path().parent_path()};
  for (std::size_t i = 0; i < opening.package_folder_count; ++i)
    folders.emplace_back(opening.package_folders[i]);
  for (const std::filesystem::path& folder : folders) {
    std::error_code error;
    if (!folder.empty() && std::filesystem::exists(folder / file, error)) return folder / file;
  }
  return {};
}

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder,
                                              std::string_view prefix) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace millrace_onnxruntime
