#include "runtime/waiting/event_count.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include "base/error.h"

namespace millrace::runtime {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
                  std::atomic<std::uint32_t>::is_always_lock_free,
              "a futex is a plain 32-bit word");

void EventCount::sleep(std::uint32_t ticket) {
  constexpr std::chrono::milliseconds between_looks{50};
  if (interrupt_ != nullptr) {
    if (interrupt_->take()) throw EngineError("interrupted");
    return sleep_before(ticket, std::chrono::steady_clock::now() + between_looks);
  }
  ::syscall(SYS_futex, &count_, FUTEX_WAIT_PRIVATE, ticket, nullptr, nullptr, 0);
}

void EventCount::sleep_before(std::uint32_t ticket, std::chrono::steady_clock::time_point moment) {
  const auto since_boot = moment.time_since_epoch();  // as CLOCK_MONOTONIC counts
  const auto whole = std::chrono::floor<std::chrono::seconds>(since_boot);
  timespec until{};
  until.tv_sec = whole.count();
  until.tv_nsec = std::chrono::nanoseconds(since_boot - whole).count();
  constexpr int wait_until = FUTEX_WAIT_BITSET_PRIVATE;  // FUTEX_WAIT takes no absolute time
  ::syscall(SYS_futex, &count_, wait_until, ticket, &until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void EventCount::notify() {
  count_.fetch_add(1, std::memory_order_release);
  constexpr int all = 1 << 30;
  ::syscall(SYS_futex, &count_, FUTEX_WAKE_PRIVATE, all, nullptr, nullptr, 0);
}

}  // namespace millrace::runtime
