#pragma once
// What a thread sleeps on that waits for any of several things.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/interrupt.h"

namespace millrace::runtime {

/// Things that different threads write lie at least this far apart.
inline constexpr std::size_t cache_line = 64;

/// Any thread may notify; all that sleep wake.
class alignas(cache_line) EventCount {
 public:
  /// Take it before the last look at what you wait for.
  std::uint32_t ticket() const { return count_.load(std::memory_order_acquire); }
  /// Sleeps until somebody has notified since the ticket was taken; may return early.
  void sleep(std::uint32_t ticket);
  /// The same, but wakes at this moment at the latest.
  void sleep_before(std::uint32_t ticket, std::chrono::steady_clock::time_point moment);
  void notify();
  /// From now on sleep() looks at it every 50 ms, and throws EngineError if it is to end. Borrowed;
  /// before anybody sleeps.
  void end_on(Interrupt* interrupt) { interrupt_ = interrupt; }

 private:
  std::atomic<std::uint32_t> count_{0};
  Interrupt* interrupt_ = nullptr;
};

}  // namespace millrace::runtime
