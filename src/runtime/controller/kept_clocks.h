#pragma once
// What limits of clocks were before a process changed them, noted for the next one.
#include <filesystem>
#include <string>
#include <vector>

namespace millrace::runtime {

/// A file of the system that limits a clock, and what is in it.
struct ClockFile {
  std::filesystem::path path;
  long long value = 0;
  bool operator==(const ClockFile&) const = default;
};

/// Puts back, when it is made, what a process that was killed had changed: what it noted, unless
/// the machine has started anew since. The note is locked (flock) as long as this process lives, so
/// that of two only the first sets clocks.
class KeptClocks {
 public:
  /// `note`: the file of the note; empty: "clocks" in the user's folder. Only limits below `root`
  /// are put back.
  explicit KeptClocks(const std::filesystem::path& root, const std::filesystem::path& note = {});
  /// Nothing is left to put back.
  ~KeptClocks();
  KeptClocks(const KeptClocks&) = delete;
  KeptClocks& operator=(const KeptClocks&) = delete;

  /// Why no clock may be set; empty: they may.
  const std::string& reason() const { return reason_; }
  /// What was put back when it was made.
  const std::vector<ClockFile>& restored() const { return restored_; }
  /// Before the first of them is changed. False: it cannot be written.
  bool keep(const std::vector<ClockFile>& limits);

 private:
  void restore(const std::filesystem::path& root);

  int file_ = -1;
  bool is_locked_ = false;
  std::string reason_;
  std::vector<ClockFile> restored_;
};

}  // namespace millrace::runtime
