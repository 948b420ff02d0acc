#include "engine/cuda/library/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <system_error>

#include "base/error.h"

namespace millrace::engine::cuda {
namespace {

namespace fs = std::filesystem;

/// Files that are there, and the bare names for the system's loader.
std::vector<fs::path> candidates(std::span<const fs::path> folders,
                                 const std::vector<std::string>& names) {
  std::vector<fs::path> result;
  for (const fs::path& folder : folders)
    for (const std::string& name : names) {
      std::error_code error;
      if (fs::is_regular_file(folder / name, error)) result.push_back(folder / name);
    }
  result.insert(result.end(), names.begin(), names.end());
  return result;
}

}  // namespace

SharedLibrary::SharedLibrary(std::span<const fs::path> folders,
                             const std::vector<std::string>& names) {
  std::string said;
  for (const fs::path& candidate : candidates(folders, names)) {
    handle_ = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    path_ = candidate;
    if (handle_ != nullptr) return;
    if (candidate.has_parent_path()) said += fmt::format("; {}", ::dlerror());
  }
  throw EngineError(fmt::format("the library {} is not found{}", fmt::join(names, " or "), said));
}

bool SharedLibrary::has(const char* name) const { return ::dlsym(handle_, name) != nullptr; }

void* SharedLibrary::address_of(const char* name) const {
  void* const address = ::dlsym(handle_, name);
  if (address == nullptr)
    throw EngineError(
        fmt::format("{} has no function {}: it is of another version", path_.string(), name));
  return address;
}

}  // namespace millrace::engine::cuda
