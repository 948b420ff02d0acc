#pragma once
// Where a stage's thread can be held between two pieces of work.
#include <atomic>
#include <cstdint>

#include "runtime/waiting/event_count.h"

namespace millrace::runtime {

/// One thread goes in and out, with a std::lock_guard; one other shuts and opens it. Open at first.
class alignas(cache_line) Gate {
 public:
  /// Goes in; waits while it is shut.
  void lock() {
    while ((state_.fetch_or(inside, std::memory_order_acquire) & shut_flag) != 0) {
      unlock();
      sleep_while(shut_flag);
    }
  }
  void unlock() {
    if ((state_.fetch_and(~inside, std::memory_order_release) & shut_flag) != 0)
      event_count_.notify();
  }

  void shut() { state_.fetch_or(shut_flag, std::memory_order_acquire); }
  /// Waits until nobody is inside. Precondition: shut.
  void wait_until_left() { sleep_while(inside); }
  void open() {
    state_.fetch_and(~shut_flag, std::memory_order_release);
    event_count_.notify();
  }

 private:
  static constexpr std::uint32_t inside = 1, shut_flag = 2;

  void sleep_while(std::uint32_t flag) {
    while (true) {
      const std::uint32_t ticket = event_count_.ticket();
      if ((state_.load(std::memory_order_acquire) & flag) == 0) return;
      event_count_.sleep(ticket);
    }
  }

  std::atomic<std::uint32_t> state_{0};
  EventCount event_count_;
};

}  // namespace millrace::runtime
