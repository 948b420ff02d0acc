#include "runtime/counter.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace millrace::runtime {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
                  std::atomic<std::uint32_t>::is_always_lock_free,
              "a futex is a plain 32-bit word");

void Counter::wake() {
  word_.fetch_and(~sleeper_flag, std::memory_order_relaxed);
  constexpr int all = 1 << 30;
  ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, all, nullptr, nullptr, 0);
}

// May return early: the caller looks again.
void Counter::sleep(std::uint32_t expected) {
  ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

}  // namespace millrace::runtime
