#include "runtime/waiting/event_count.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace millrace::runtime {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
                  std::atomic<std::uint32_t>::is_always_lock_free,
              "a futex is a plain 32-bit word");

void EventCount::sleep(std::uint32_t ticket) {
  ::syscall(SYS_futex, &count_, FUTEX_WAIT_PRIVATE, ticket, nullptr, nullptr, 0);
}

void EventCount::notify() {
  count_.fetch_add(1, std::memory_order_release);
  constexpr int all = 1 << 30;
  ::syscall(SYS_futex, &count_, FUTEX_WAKE_PRIVATE, all, nullptr, nullptr, 0);
}

}  // namespace millrace::runtime
