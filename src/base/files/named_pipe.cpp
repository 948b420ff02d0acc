#include "base/files/named_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace millrace {
namespace {

using PipeClock = std::chrono::steady_clock;

class PipeDescriptor {
 public:
  explicit PipeDescriptor(int file) : file_(file) {}
  ~PipeDescriptor() { close(); }
  PipeDescriptor(const PipeDescriptor&) = delete;
  PipeDescriptor& operator=(const PipeDescriptor&) = delete;

  int get() const { return file_; }
  bool is_open() const { return file_ >= 0; }
  int release() { return std::exchange(file_, -1); }
  void close() {
    if (is_open()) ::close(release());
  }

 private:
  int file_;
};

int open_for_writing(const std::filesystem::path& pipe) {
  return ::open(pipe.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
}

/// Who opens the pipe to read it shows there.
int watch_opened(const std::filesystem::path& pipe) {
  const int watch = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (watch >= 0 && ::inotify_add_watch(watch, pipe.c_str(), IN_OPEN) < 0) {
    ::close(watch);
    return -1;
  }
  return watch;
}

/// Whether somebody reads from the pipe; the descriptor is for writing only.
bool is_read(int pipe) {
  pollfd look{pipe, 0, 0};
  return ::poll(&look, 1, 0) == 0;  // else POLLERR: it has no reader
}

/// Until the watch tells of something or the time has come, at the latest.
void wait_for_opening(int watch, PipeClock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - PipeClock::now());
  pollfd wait{watch, POLLIN, 0};
  ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
  char events[4096];
  while (::read(watch, events, sizeof events) > 0) continue;
}

}  // namespace

/// As long as somebody has it open for writing, a reader's opening ends at once and is told of. So
/// a descriptor for both directions, which needs no reader, makes room for one that only writes.
int open_read_pipe(const std::filesystem::path& pipe, std::chrono::milliseconds patience) {
  if (const int file = open_for_writing(pipe); file >= 0 || errno != ENXIO) return file;
  const PipeDescriptor watch(watch_opened(pipe));
  PipeDescriptor both(::open(pipe.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!watch.is_open() || !both.is_open()) return open_for_writing(pipe);
  PipeDescriptor file(open_for_writing(pipe));
  both.close();
  const auto end = PipeClock::now() + patience;
  while (file.is_open() && !is_read(file.get())) {
    if (PipeClock::now() >= end) {
      errno = ENXIO;
      return -1;
    }
    wait_for_opening(watch.get(), end);
  }
  return file.release();
}

}  // namespace millrace
