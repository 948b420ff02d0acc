#pragma once
// The bytes of a file where they lie: they are read when somebody looks at them, and the system
// may drop what it can read again.
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace millrace {

class MappedFile {
 public:
  /// Null if it is no regular file, is empty, or cannot be mapped. Whoever cuts the file short
  /// while it is mapped ends the programs that look at it; replacing it changes nothing.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Aligned to a page.
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

}  // namespace millrace
