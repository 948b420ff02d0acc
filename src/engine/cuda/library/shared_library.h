#pragma once
// A library of NVIDIA's, loaded when it is asked for; building needs neither it nor its headers.
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace millrace::engine::cuda {

/// Stays loaded as long as the process: drivers do not like to be unloaded.
class SharedLibrary {
 public:
  /// The first of the names ("libcudnn.so.9") that loads from one of the folders, or else from
  /// where the system looks for libraries. EngineError that says why none does.
  SharedLibrary(std::span<const std::filesystem::path> folders,
                const std::vector<std::string>& names);

  /// Sets `function` to that of this name. EngineError if the library has none.
  template <class Function>
  void find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(address_of(name));
  }
  bool has(const char* name) const;
  /// As it was loaded: a file, or a name for the system's loader.
  const std::filesystem::path& path() const { return path_; }

 private:
  void* address_of(const char* name) const;

  void* handle_ = nullptr;
  std::filesystem::path path_;
};

}  // namespace millrace::engine::cuda
