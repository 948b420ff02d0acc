#include "weights_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

namespace millrace_cluster {
namespace {

namespace fs = std::filesystem;

constexpr const char* name = "weights";  // as the subnet's ONNX calls it

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

}  // namespace

WeightsFile::WeightsFile(std::int64_t bytes) : size_(bytes) {
  std::string pattern = (folder_for_temporaries() / "millrace-worker-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) fail(pattern, bytes);
  folder_ = pattern;
  file_ = ::open((folder_ / name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
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
