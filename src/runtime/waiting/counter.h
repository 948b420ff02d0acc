#pragma once
// A number that one thread raises and one other waits for: one direction of a channel.
#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/units.h"
#include "runtime/waiting/event_count.h"

namespace millrace::runtime {

/// Counts modulo 2^29. Alone on its cache line. One thread raises, one waits; any may end it.
class alignas(cache_line) Counter {
 public:
  /// What a counter said at one moment.
  class Value {
   public:
    explicit Value(std::uint32_t word) : word_(word) {}
    std::uint32_t count() const { return word_ >> flag_bits; }
    /// Whether it has been raised more than `times`, if the two are less than 2^28 apart.
    bool exceeds(std::int64_t times) const {
      const auto ahead = (count() - static_cast<std::uint32_t>(times)) & ((one_half << 1) - 1);
      return ahead != 0 && ahead < one_half;
    }
    bool finished() const { return (word_ & (finished_flag | closed_flag)) != 0; }
    bool closed() const { return (word_ & closed_flag) != 0; }

   private:
    static constexpr std::uint32_t one_half = 1u << 28;
    std::uint32_t word_;
  };

  /// `event_count`: of the thread that waits; borrowed.
  explicit Counter(EventCount& event_count) : event_count_(event_count) {}

  Value read() const { return Value(word_.load(std::memory_order_acquire)); }
  /// Adds this many. What this thread wrote before is seen by whoever reads the new count.
  void raise(std::uint32_t by = 1) {
    announce(word_.fetch_add(one * by, std::memory_order_acq_rel));
  }
  /// Says that the count will not rise again.
  void finish() { announce(word_.fetch_or(finished_flag, std::memory_order_acq_rel)); }
  /// Says that the count matters no longer.
  void close() { announce(word_.fetch_or(closed_flag, std::memory_order_acq_rel)); }
  /// The value now; the thread is woken at the next change.
  Value watch() { return Value(word_.fetch_or(watched_flag, std::memory_order_acq_rel)); }
  /// Waits until ready(value); spins for `spin`, then sleeps. `ready` must be true of a closed one.
  template <class Ready>
  Value wait(const Ready& ready, Time spin);

 private:
  static constexpr int flag_bits = 3;
  static constexpr std::uint32_t watched_flag = 1, finished_flag = 2, closed_flag = 4, one = 8;

  void announce(std::uint32_t before) {
    if ((before & watched_flag) == 0) return;
    word_.fetch_and(~watched_flag, std::memory_order_relaxed);
    event_count_.notify();
  }

  // The upper bits are the count. Every change is one read-modify-write, so a change either
  // finds the watcher's flag and notifies, or is found by the watcher when it sets the flag.
  std::atomic<std::uint32_t> word_{0};
  EventCount& event_count_;
};

/// Tells the core that this is a spin loop.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Looks until done() is true, at most for `spin`; at least once. What the last look said.
template <class Done>
bool spin_until(const Done& done, Time spin) {
  using Clock = std::chrono::steady_clock;
  constexpr int looks_between_clock_reads = 64;
  if (done()) return true;
  if (spin <= Time::zero()) return false;
  const auto end = Clock::now() + spin;
  do {
    for (int i = 0; i < looks_between_clock_reads; ++i) {
      relax();
      if (done()) return true;
    }
  } while (Clock::now() < end);
  return false;
}

template <class Ready>
Counter::Value Counter::wait(const Ready& ready, Time spin) {
  Value value = read();
  spin_until([&] { return ready(value = read()); }, spin);
  while (!ready(value)) {
    const std::uint32_t ticket = event_count_.ticket();
    value = watch();
    if (ready(value)) break;
    event_count_.sleep(ticket);
    value = read();
  }
  return value;
}

}  // namespace millrace::runtime
