#include "engine/cuda/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "engine/package_folders.h"

namespace millrace::engine::cuda {
namespace {

namespace fs = std::filesystem;
constexpr const char* place_of_settings = "engine option of cuda";
constexpr std::array<std::string_view, 3> keys{"cublas", "cudnn", "wait"};

/// `value` is one of two words; whether it is the second.
bool second_of(const std::string& key, const std::string& value,
               std::array<std::string_view, 2> words) {
  if (value == words[0] || value == words[1]) return value == words[1];
  throw InputError(place_of_settings,
                   fmt::format("{}={}: expected {} or {}", key, value, words[0], words[1]));
}

/// In the order in which the packages of PyPI are named from CUDA 13 on, and before.
constexpr std::array package_parts{"cu13/lib",   "cu12/lib",  "cuda_nvrtc/lib",
                                   "cublas/lib", "cudnn/lib", "nvjitlink/lib"};
void add_packages_in(const fs::path& folder, std::vector<fs::path>& folders) {
  for (const char* part : package_parts) folders.push_back(folder / "nvidia" / part);
}
constexpr std::array toolkit_folders{"/usr/local/cuda/lib64",
                                     "/usr/local/cuda/targets/x86_64-linux/lib",
                                     "/usr/local/cuda/targets/aarch64-linux/lib",
                                     "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"};

std::optional<fs::path> named_folder(const EngineOptions& options) {
  if (const auto at = options.libraries.find("cuda"); at != options.libraries.end())
    return at->second;
  const char* const variable = std::getenv("MILLRACE_CUDA");
  if (variable != nullptr && *variable != '\0') return variable;
  return std::nullopt;
}

}  // namespace

Settings read_settings(const EngineOptions& options) {
  Settings settings;
  const auto given = options.settings.find("cuda");
  if (given == options.settings.end()) return settings;
  for (const auto& [key, value] : given->second) {
    if (key == "cudnn")
      settings.cudnn = second_of(key, value, {"0", "1"});
    else if (key == "cublas")
      settings.cublas = second_of(key, value, {"0", "1"});
    else if (key == "wait")
      settings.spins = second_of(key, value, {"sleep", "spin"});
    else
      throw InputError(place_of_settings,
                       fmt::format("{}: there is no such option; known are {}{}", key,
                                   fmt::join(keys, ", "), did_you_mean(key, keys)));
  }
  return settings;
}

std::string to_text(const Settings& settings) {
  std::vector<std::string> parts;
  if (!settings.cudnn) parts.emplace_back("cudnn=0");
  if (!settings.cublas) parts.emplace_back("cublas=0");
  if (settings.spins) parts.emplace_back("wait=spin");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<fs::path> library_folders(const EngineOptions& options) {
  if (const std::optional<fs::path> named = named_folder(options)) {
    std::error_code error;
    if (!fs::is_directory(*named, error))
      throw EngineError(fmt::format("{} is no folder with NVIDIA's libraries", named->string()));
    std::vector<fs::path> folders{*named};
    add_packages_in(*named, folders);
    return folders;
  }
  std::vector<fs::path> folders;
  for (const fs::path& packages : package_folders()) add_packages_in(packages, folders);
  folders.insert(folders.end(), toolkit_folders.begin(), toolkit_folders.end());
  return folders;
}

}  // namespace millrace::engine::cuda
