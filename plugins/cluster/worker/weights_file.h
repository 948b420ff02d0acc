// Weights that come for one subnet, in a file without a name after it is read: the system can drop
// their pages when memory is short, and read them again.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace millrace_cluster {

class WeightsFile {
 public:
  /// In a new folder under $TMPDIR, else /var/tmp, else /tmp; what killed workers of this user left
  /// there is removed. std::runtime_error that says what cannot be written.
  explicit WeightsFile(std::int64_t bytes);
  ~WeightsFile();
  WeightsFile(const WeightsFile&) = delete;
  WeightsFile& operator=(const WeightsFile&) = delete;

  void put(std::int64_t offset, std::string_view bytes);
  /// Holds a file "weights", as long as this lives.
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  std::int64_t size_ = 0;
  int file_ = -1;
};

}  // namespace millrace_cluster
