#pragma once
// A file that is written beside its place and gets its name at the end.
#include <filesystem>
#include <string>

namespace millrace {

/// Where a chain of links ends, also if nothing is there yet; the path itself if it is no link.
/// EngineError if the chain has no end.
std::filesystem::path end_of_links(const std::filesystem::path& path);

/// Where the content of `path` really goes: a link is followed, not replaced, also if what it names
/// is not there yet. EngineError if it is a folder.
std::filesystem::path target_of(const std::filesystem::path& path);

/// A device or a pipe, such as /dev/stdout: nothing may be put in its place.
bool is_special(const std::filesystem::path& target);

/// A special file, open to be written; the caller closes it. EngineError, which names `path`, if it
/// cannot be opened. So is a pipe with a name that nobody opens to read within a second: writing
/// would wait for a reader for ever.
int open_special(const std::filesystem::path& target, const std::filesystem::path& path);

/// "PATH: cannot be written: No space left on device", as EngineError. `error`: errno, 0: unknown.
[[noreturn]] void cannot_write(const std::filesystem::path& path, int error);

/// A new empty file in the folder of `target`. Its random name begins as that of `target`, as far
/// as there is room, and ends in ".tmp" and `ending`; no file that is there already is
/// opened. Removed unless it is renamed into place. Never more people can read it than `target`, if
/// that is there. It is locked (flock) as long as this process lives.
class TemporaryFile {
 public:
  /// EngineError naming `target` if it cannot be made, or if `target` is write-protected.
  explicit TemporaryFile(std::filesystem::path target, const std::string& ending = {});
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// To its target, over what is there, whose permissions it takes; it is on the disk before.
  /// EngineError if that fails.
  void rename();

 private:
  std::filesystem::path target_, path_;
  int file_ = -1;  // keeps the lock
  bool kept_ = false;
};

/// Removes the temporary files in a folder whose process was killed. One that was made with an
/// ending can be read as far as it came: that of "boxes.avi" becomes "boxes.killed.avi".
void sweep_temporaries(const std::filesystem::path& folder);

}  // namespace millrace
