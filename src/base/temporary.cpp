#include "base/temporary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/named_pipe.h"

namespace millrace {
namespace {

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

/// Status of a file; nothing if none is there.
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

std::filesystem::path folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  return folder.empty() ? "." : folder;
}

constexpr std::string_view before_number = ".millrace-", after_number = ".tmp";
constexpr std::size_t digits = 16;

/// The target's name may be as long as the file system allows; then the end of it is left out.
std::filesystem::path temporary_name(const std::filesystem::path& target,
                                     const std::string& ending) {
  const std::string mark =
      fmt::format("{}{:016x}{}{}", before_number, random_number(), after_number, ending);
  const long longest = ::pathconf(folder_of(target).c_str(), _PC_NAME_MAX);
  const std::size_t room = longest > 0 ? static_cast<std::size_t>(longest) : NAME_MAX;
  std::string name = target.filename().string();
  std::size_t kept = std::min(name.size(), room - std::min(room, mark.size()));
  const auto goes_on = [&](std::size_t at) {
    return at < name.size() && (name[at] & 0xc0) == 0x80;
  };
  while (kept > 0 && goes_on(kept)) --kept;
  return target.parent_path() / (name.substr(0, kept) + mark);
}

/// The name of the target, in the name of a temporary file; nothing in others.
std::optional<std::string> target_in(const std::string& name) {
  const std::size_t at = name.rfind(before_number);
  if (at == name.npos) return std::nullopt;
  const std::string_view rest = std::string_view(name).substr(at + before_number.size());
  const bool has_number = rest.substr(0, digits).find_first_not_of("0123456789abcdef") == rest.npos;
  if (rest.size() < digits || !has_number || !rest.substr(digits).starts_with(after_number))
    return std::nullopt;
  return name.substr(0, at);
}

/// errno, 0: it is there. Who sweeps may have found it before it was locked; then it counts as one
/// that was there.
int make_locked(const std::filesystem::path& path, mode_t mode, int& file) {
  constexpr int flags = O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC;
  file = ::open(path.c_str(), flags, mode);
  if (file < 0) return errno;
  struct stat found {};
  const bool is_taken = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!is_taken && ::fstat(file, &found) == 0 && found.st_nlink > 0) return 0;
  ::unlink(path.c_str());
  ::close(file);
  file = -1;
  return EEXIST;
}

/// errno, 0: it is on the disk, or the file system has no such thing.
int sync(int file) {
  while (::fsync(file) != 0) {
    if (errno == EINVAL || errno == ENOTSUP || errno == EROFS) return 0;
    if (errno != EINTR) return errno;
  }
  return 0;
}

/// One that this user made and that nobody has locked. On a file system without locks none is.
void sweep(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return;
  struct stat found {};
  const bool is_ours =
      ::fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == ::geteuid();
  if (is_ours && ::flock(file, LOCK_EX | LOCK_NB) == 0) {
    std::error_code ignored;
    const std::string name = path.filename().string();
    const std::string ending = path.extension().string();
    std::filesystem::path kept = *target_in(name);
    kept.replace_extension(".killed" + ending);
    if (ending != after_number && found.st_size > 0)
      std::filesystem::rename(path, path.parent_path() / kept, ignored);
    else
      std::filesystem::remove(path, ignored);
  }
  ::close(file);
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

int open_special(const std::filesystem::path& target, const std::filesystem::path& path) {
  constexpr std::chrono::seconds patience{1};  // who is to read it may have just been started
  std::error_code ignored;
  const int file = std::filesystem::is_fifo(target, ignored)
                       ? open_read_pipe(target, patience)
                       : ::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 && errno == ENXIO)
    throw EngineError(
        fmt::format("{}: is a pipe or a device at whose other end nobody is; begin to read it "
                    "first, or name a file",
                    path.string()));
  if (file < 0 || ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK) != 0)
    cannot_write(path, errno);
  return file;
}

TemporaryFile::TemporaryFile(std::filesystem::path target, const std::string& ending)
    : target_(std::move(target)) {
  constexpr int tries = 100;
  mode_t mode = 0666;  // less what the user's mask takes away
  if (const auto old = status_of(target_)) {
    check_not_protected(target_);
    mode = (mode & old->st_mode) | S_IRUSR | S_IWUSR;
  }
  int error = EEXIST;
  for (int i = 0; i < tries && error == EEXIST; ++i) {
    path_ = temporary_name(target_, ending);
    error = make_locked(path_, mode, file_);
  }
  if (error != 0) cannot_write(target_, error);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (!kept_) std::filesystem::remove(path_, ignored);
  ::close(file_);
}

void TemporaryFile::rename() {
  if (const auto old = status_of(target_)) take_permissions(*old, path_);
  if (const int error = sync(file_); error != 0) cannot_write(target_, error);
  std::error_code error;
  std::filesystem::rename(path_, target_, error);
  if (error) cannot_write(target_, error.value());
  kept_ = true;
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);  // not every file system can; the file's own content is there
  ::close(folder);
}

void sweep_temporaries(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> found;
  for (auto entry = std::filesystem::directory_iterator(folder.empty() ? "." : folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    if (target_in(entry->path().filename().string())) found.push_back(entry->path());
  for (const std::filesystem::path& each : found) sweep(each);
}

}  // namespace millrace
