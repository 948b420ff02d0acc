#include "board/user_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace millrace::board {
namespace {

namespace fs = std::filesystem;

bool is_own(const struct stat& status) { return status.st_uid == ::geteuid(); }

/// -1 if it cannot be had or is not this user's alone.
int open_in(const fs::path& folder, const char* name) {
  ::mkdir(folder.c_str(), 0700);
  const int place = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (place < 0) return -1;
  struct stat status {};
  const bool own =
      ::fstat(place, &status) == 0 && is_own(status) && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int file = own ? ::openat(place, name, flags, 0600) : -1;
  ::close(place);
  if (file >= 0 && (::fstat(file, &status) != 0 || !is_own(status) || !S_ISREG(status.st_mode))) {
    ::close(file);
    file = -1;
  }
  return file;
}

}  // namespace

int open_in_user_folder(const char* name) {
  const std::string user = std::to_string(::geteuid());
  const char* const given = std::getenv("XDG_RUNTIME_DIR");
  if (given != nullptr && fs::path(given).is_absolute())
    if (const int file = open_in(fs::path(given) / "millrace", name); file >= 0) return file;
  if (const int file = open_in(fs::path("/run/user") / user / "millrace", name); file >= 0)
    return file;
  return open_in("/tmp/millrace-" + user, name);
}

}  // namespace millrace::board
