#pragma once
// What was removed from a folder, what is left there, and why.
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/units.h"

namespace millrace {

struct Removal {
  static constexpr const char* written = "another process writes it";
  static constexpr const char* foreign = "is nothing that the cache keeps";

  std::int64_t files = 0;
  Bytes size;
  std::vector<std::string> left = {};  // "PATH: reason"
  bool failed = false;                 // something was to go and is still there

  void leave(const std::filesystem::path& path, const std::string& reason) {
    left.push_back(path.string() + ": " + reason);
  }
  /// A file, a pipe, a socket, a link or an empty folder.
  void remove(const std::filesystem::path& path, Bytes bytes) {
    std::error_code error;
    if (std::filesystem::remove(path, error)) {
      ++files;
      size += bytes;
    } else if (error) {
      failed = true;
      leave(path, "cannot be removed: " + error.message());
    }
  }
};

/// Empties the folder of a Store of all that it keeps, whatever it is, but for what others write at
/// this moment.
Removal clear_store(const std::filesystem::path& folder);

}  // namespace millrace
