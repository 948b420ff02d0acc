#include "board/cores_in_use.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace millrace::board {
namespace {

namespace fs = std::filesystem;

bool is_own(const struct stat& status) { return status.st_uid == ::geteuid(); }

/// The file in this folder, which is made if need be; -1 if it cannot be had or is not this user's
/// alone.
int open_notes_in(const fs::path& folder) {
  ::mkdir(folder.c_str(), 0700);
  const int place = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (place < 0) return -1;
  struct stat status {};
  const bool own =
      ::fstat(place, &status) == 0 && is_own(status) && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int file = own ? ::openat(place, "cores.lock", flags, 0600) : -1;
  ::close(place);
  if (file >= 0 && (::fstat(file, &status) != 0 || !is_own(status) || !S_ISREG(status.st_mode))) {
    ::close(file);
    file = -1;
  }
  return file;
}

int open_notes() {
  const std::string user = std::to_string(::geteuid());
  const char* const given = std::getenv("XDG_RUNTIME_DIR");
  if (given != nullptr && fs::path(given).is_absolute())
    if (const int file = open_notes_in(fs::path(given) / "millrace"); file >= 0) return file;
  if (const int file = open_notes_in(fs::path("/run/user") / user / "millrace"); file >= 0)
    return file;
  return open_notes_in("/tmp/millrace-" + user);
}

/// Open to the end of the process: closing it anywhere would let go of all the process's locks.
int notes() {
  static const int file = open_notes();
  return file;
}

struct flock lock_of(int core, int type) {
  struct flock lock {};
  lock.l_type = static_cast<short>(type);
  lock.l_whence = SEEK_SET;
  lock.l_start = core;
  lock.l_len = 1;
  return lock;
}

/// Shared locks (F_RDLCK) of several processes get along; an F_WRLCK is only for one moment.
bool set_lock(int core, int type) {
  struct flock lock = lock_of(core, type);
  return core >= 0 && ::fcntl(notes(), F_SETLK, &lock) == 0;
}

/// None of them is taken unless all are.
bool take(const std::vector<int>& cores) {
  const auto end = std::find_if_not(cores.begin(), cores.end(),
                                    [](int core) { return set_lock(core, F_WRLCK); });
  const int type = end == cores.end() ? F_RDLCK : F_UNLCK;
  std::for_each(cores.begin(), end, [&](int core) { set_lock(core, type); });
  return end == cores.end();
}

}  // namespace

void note_use(const std::vector<int>& cores) {
  if (notes() < 0) return;
  for (const int core : cores) set_lock(core, F_RDLCK);
}

std::optional<std::size_t> take_free(const std::vector<Processor>& processors) {
  for (std::size_t i = 0; i < processors.size(); ++i)
    if (notes() < 0 || take(processors[i].cores)) return i;
  return std::nullopt;
}

std::vector<CoreInUse> used_by_others(const std::vector<int>& cores) {
  std::vector<CoreInUse> result;
  if (notes() < 0) return result;
  for (const int core : cores) {
    struct flock lock = lock_of(core, F_WRLCK);
    if (core >= 0 && ::fcntl(notes(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
      result.push_back({core, std::max<long>(lock.l_pid, 0)});
  }
  return result;
}

}  // namespace millrace::board
