#pragma once
// JSON lines, which are kept as far as they came.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/temporary.h"

namespace millrace {

/// Written beside its place; a device or a pipe is written to directly. One thread at a time.
class LinesFile {
 public:
  /// EngineError if it cannot be made.
  explicit LinesFile(const std::filesystem::path& path);
  ~LinesFile();
  LinesFile(const LinesFile&) = delete;
  LinesFile& operator=(const LinesFile&) = delete;

  /// Out at once. EngineError if it does not get out; the lines before it stay whole.
  void write(const std::string& line);
  /// Under its name. Without a line nothing changes, and what is there stays.
  void keep();
  std::int64_t lines() const { return lines_; }

 private:
  std::filesystem::path path_;
  std::optional<TemporaryFile> temporary_;  // none: written to directly
  int file_ = -1;
  std::int64_t lines_ = 0, bytes_ = 0;
};

/// To standard output; out at once if `now`, or if somebody may be waiting for it: if it is no
/// regular file. EngineError if it does not get out; std::system_error of EPIPE if nobody reads.
class LinesOut {
 public:
  explicit LinesOut(bool now);
  void write(const std::string& line);
  std::int64_t lines() const { return lines_; }

 private:
  bool now_;
  std::int64_t lines_ = 0;
};

}  // namespace millrace
