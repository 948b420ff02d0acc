#pragma once
// Lines between processes of one user on this machine: a Unix socket that nobody else reaches.
#include <filesystem>
#include <optional>
#include <string>

#include "base/units.h"

namespace millrace {

/// One connection, to which both sides write lines. Owns its descriptor; one thread at a time.
class LocalConnection {
 public:
  /// To a process of the same user. EngineError if nobody listens there.
  explicit LocalConnection(const std::filesystem::path& socket);
  explicit LocalConnection(int descriptor) : descriptor_(descriptor) {}
  ~LocalConnection();
  LocalConnection(LocalConnection&& other) noexcept;
  LocalConnection& operator=(LocalConnection&&) = delete;

  /// Without the end of the line; none: the other side has ended, or said nothing for so long.
  /// EngineError if a line is longer than 64 MiB.
  std::optional<std::string> read_line(Time longest);
  void write_line(const std::string& line);

 private:
  int descriptor_ = -1;
  std::string read_;  // beyond the last line
};

/// A socket at this path, which ends with it: mode 0600, in a folder that only the user reaches.
/// Who connects is asked for, and sent away if it is another user.
class LocalListener {
 public:
  /// InputError if the folder is open to others; EngineError if the socket cannot be made.
  explicit LocalListener(const std::filesystem::path& socket);
  ~LocalListener();
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// The next one of the same user; none: nobody came for so long.
  std::optional<LocalConnection> accept(Time longest);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// "millrace-PID.sock" in the user's folder for such files: $XDG_RUNTIME_DIR, else one of mode 0700
/// among the temporary files, which is made.
std::filesystem::path socket_of_process(long process);

}  // namespace millrace
