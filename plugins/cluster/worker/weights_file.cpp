#include "weights_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace millrace_cluster {
namespace {

namespace fs = std::filesystem;

constexpr const char* name = "weights";  // as the subnet's ONNX calls it
constexpr std::string_view prefix = "millrace-worker-";

/// On a disk if there is one: /tmp is often memory.
fs::path folder_for_temporaries() {
  if (const char* const named = std::getenv("TMPDIR"); named != nullptr && *named != '\0')
    return named;
  return ::access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

[[noreturn]] void fail(const fs::path& path, std::int64_t bytes) {
  throw std::runtime_error(path.string() + " has no room for " + std::to_string(bytes) +
                           " bytes of weights (" + std::generic_category().message(errno) +
                           "); make room, or set TMPDIR there to another folder");
}

/// Locks a file of this user. Whether it still has its name: nobody has removed it in between.
bool lock_if_named(int file, const fs::path& path) {
  struct stat open {
  }, named{};
  return ::flock(file, LOCK_EX | LOCK_NB) == 0 && ::fstat(file, &open) == 0 &&
         open.st_uid == ::geteuid() && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/// What workers left that were killed: a living one has the lock of its file.
void remove_left_behind(const fs::path& parent) {
  std::error_code ignored;
  for (const fs::directory_entry& each : fs::directory_iterator(parent, ignored)) {
    if (!each.path().filename().string().starts_with(prefix)) continue;
    const int file = ::open((each.path() / name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) continue;
    if (lock_if_named(file, each.path() / name)) fs::remove_all(each.path(), ignored);
    ::close(file);
  }
}

}  // namespace

WeightsFile::WeightsFile(std::int64_t bytes) : size_(bytes) {
  const fs::path parent = folder_for_temporaries();
  remove_left_behind(parent);
  while (file_ < 0) {
    std::string pattern = (parent / (std::string(prefix) + "XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr) fail(pattern, bytes);
    folder_ = pattern;
    file_ = ::open((folder_ / name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file_ < 0 || lock_if_named(file_, folder_ / name)) break;
    ::close(std::exchange(file_, -1));  // another worker took it for one that was left behind
  }
  // The room is taken now: who looks at a page that cannot be written later would be ended.
  if (file_ >= 0 && bytes > 0) errno = ::posix_fallocate(file_, 0, bytes);
  if (file_ >= 0 && (bytes == 0 || errno == 0)) return;
  const int why = errno;
  if (file_ >= 0) ::close(file_);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  errno = why;
  fail(folder_, bytes);
}

WeightsFile::~WeightsFile() {
  ::close(file_);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void WeightsFile::put(std::int64_t offset, std::string_view bytes) {
  constexpr std::int64_t at_once = std::int64_t{8} << 20;  // is sent to the disk as it comes
  if (offset < 0 || offset > size_ || static_cast<std::int64_t>(bytes.size()) > size_ - offset)
    throw std::runtime_error("weights came beyond the end of their file");
  for (std::int64_t at = offset; !bytes.empty();) {
    const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(folder_, size_);
    at += written;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    // Pages that wait for the disk count where memory is limited.
    if (at / at_once != (at - written) / at_once)
      ::sync_file_range(file_, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE);
  }
}

}  // namespace millrace_cluster
