#pragma once
// A process that can start a few threads more, and then none.
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace millrace::test {

/// While it is there, so many threads can be started: their stacks are so large that no more fit
/// into the address space.
class RoomForThreads {
 public:
  explicit RoomForThreads(std::size_t threads) {
    ::getrlimit(RLIMIT_AS, &limit_before_);
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t attributes = before_;
    ::pthread_attr_setstacksize(&attributes, stack);
    ::pthread_setattr_default_np(&attributes);
    rlimit limit = limit_before_;
    limit.rlim_cur = address_space() + threads * stack + stack / 2;
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~RoomForThreads() {
    ::setrlimit(RLIMIT_AS, &limit_before_);
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  RoomForThreads(const RoomForThreads&) = delete;
  RoomForThreads& operator=(const RoomForThreads&) = delete;

 private:
  static constexpr std::size_t stack = std::size_t{512} << 20;  // half of it: for all else

  static std::size_t address_space() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  }

  rlimit limit_before_{};
  pthread_attr_t before_{};
};

}  // namespace millrace::test
