#include "board/cores_in_use.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "board/user_folder.h"

namespace millrace::board {
namespace {

/// Open to the end of the process: closing it anywhere would let go of all the process's locks.
int notes() {
  static const int file = open_in_user_folder("cores.lock");
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
