#include "base/temporary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>

#include "base/error.h"

namespace millrace {
namespace {

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

/// Of a file; nothing if none is there.
std::optional<struct stat> status_of(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  return found;
}

/// A rename needs the folder's permission only, but whoever protects a file means to keep it.
void check_not_protected(const std::filesystem::path& target) {
  if (::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) == 0) return;
  if (errno != EACCES && errno != EPERM) cannot_write(target, errno);
  throw EngineError(
      fmt::format("{}: cannot be written: the file is write-protected; allow it with chmod u+w, or "
                  "name another file",
                  target.string()));
}

/// A file system without owners or permissions refuses; there is nothing to take over then.
void take_permissions(const struct stat& from, const std::filesystem::path& to) {
  const std::optional<struct stat> made = status_of(to);
  if (!made) return;
  mode_t mode = from.st_mode & 0777;
  constexpr auto unchanged = static_cast<uid_t>(-1);
  const bool has_group =
      made->st_gid == from.st_gid || ::chown(to.c_str(), unchanged, from.st_gid) == 0;
  if (!has_group) mode &= ~static_cast<mode_t>(S_IRWXG);  // was meant for another group
  [[maybe_unused]] const bool has_owner =
      made->st_uid == from.st_uid || ::chown(to.c_str(), from.st_uid, unchanged) == 0;
  [[maybe_unused]] const bool has_mode = ::chmod(to.c_str(), mode) == 0;
}

}  // namespace

void cannot_write(const std::filesystem::path& path, int error) {
  throw EngineError(fmt::format("{}: cannot be written: {}", path.string(),
                                error != 0 ? std::strerror(error) : "the disk refused the data"));
}

std::filesystem::path end_of_links(const std::filesystem::path& path) {
  constexpr int most = 40;  // as Linux has it
  std::filesystem::path end = path;
  for (int i = 0; i < most; ++i) {
    std::error_code is_no_link;
    const std::filesystem::path next = std::filesystem::read_symlink(end, is_no_link);
    if (is_no_link) return end;
    end = end.parent_path() / next;
  }
  cannot_write(path, ELOOP);
}

std::filesystem::path target_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  if (error) {
    const bool is_there = std::filesystem::exists(path, error);  // a pipe has no path of its own
    return is_there ? path : end_of_links(path);
  }
  if (std::filesystem::is_directory(target)) cannot_write(path, EISDIR);
  return target;
}

bool is_special(const std::filesystem::path& target) {
  std::error_code error;
  const auto status = std::filesystem::status(target, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

TemporaryFile::TemporaryFile(std::filesystem::path target, const std::string& ending)
    : target_(std::move(target)) {
  constexpr int tries = 100;
  constexpr int flags = O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC;
  mode_t mode = 0666;  // less what the user's mask takes away
  if (const auto old = status_of(target_)) {
    check_not_protected(target_);
    mode = (mode & old->st_mode) | S_IRUSR | S_IWUSR;
  }
  int error = EEXIST;
  for (int i = 0; i < tries && error == EEXIST; ++i) {
    path_ = target_.string() + fmt::format(".{:016x}.tmp{}", random_number(), ending);
    const int file = ::open(path_.c_str(), flags, mode);
    error = file < 0 ? errno : 0;
    if (file >= 0) ::close(file);
  }
  if (error != 0) cannot_write(target_, error);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (!kept_) std::filesystem::remove(path_, ignored);
}

void TemporaryFile::rename() {
  if (const auto old = status_of(target_)) take_permissions(*old, path_);
  std::error_code error;
  std::filesystem::rename(path_, target_, error);
  if (error) cannot_write(target_, error.value());
  kept_ = true;
}

}  // namespace millrace
