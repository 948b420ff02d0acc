#pragma once
// A number that one thread raises and one other waits for: one direction of a channel.
#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/units.h"

namespace millrace::runtime {

/// Things that different threads write lie at least this far apart.
inline constexpr std::size_t cache_line = 64;

/// Counts modulo 2^29. Alone on its cache line. One thread raises, one waits; any may end it.
class alignas(cache_line) Counter {
 public:
  /// What a counter said at one moment.
  class Value {
   public:
    explicit Value(std::uint32_t word) : word_(word) {}
    std::uint32_t count() const { return word_ >> flag_bits; }
    bool finished() const { return (word_ & (finished_flag | closed_flag)) != 0; }
    bool closed() const { return (word_ & closed_flag) != 0; }

   private:
    std::uint32_t word_;
  };

  Value read() const { return Value(word_.load(std::memory_order_acquire)); }
  /// Adds one. What this thread wrote before is seen by whoever reads the new count.
  void raise() { announce(word_.fetch_add(one, std::memory_order_acq_rel)); }
  /// Says that the count will not rise again.
  void finish() { announce(word_.fetch_or(finished_flag, std::memory_order_acq_rel)); }
  /// Says that the count matters no longer.
  void close() { announce(word_.fetch_or(closed_flag, std::memory_order_acq_rel)); }
  /// Waits until ready(value); spins for `spin`, then sleeps. `ready` must be true of a closed one.
  template <class Ready>
  Value wait(const Ready& ready, Time spin);

 private:
  static constexpr int flag_bits = 3;
  static constexpr std::uint32_t sleeper_flag = 1, finished_flag = 2, closed_flag = 4, one = 8;

  void announce(std::uint32_t before) {
    if ((before & sleeper_flag) != 0) wake();
  }
  template <class Ready>
  Value spin_for(const Ready& ready, Time spin) const;
  void wake();
  void sleep(std::uint32_t expected);

  // The upper bits are the count. Every change is one read-modify-write, so a change either
  // finds the sleeper's flag and wakes it, or is found by the sleeper, whose futex wait ends at
  // once when the word is no longer the one that carried the flag. The flag is cleared before
  // waking.
  std::atomic<std::uint32_t> word_{0};
};

/// Tells the core that this is a spin loop.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

template <class Ready>
Counter::Value Counter::spin_for(const Ready& ready, Time spin) const {
  using Clock = std::chrono::steady_clock;
  constexpr int looks_between_clock_reads = 64;
  Value value = read();
  if (ready(value) || spin <= Time::zero()) return value;
  const auto end = Clock::now() + spin;
  do {
    for (int i = 0; i < looks_between_clock_reads; ++i) {
      relax();
      value = read();
      if (ready(value)) return value;
    }
  } while (Clock::now() < end);
  return value;
}

template <class Ready>
Counter::Value Counter::wait(const Ready& ready, Time spin) {
  Value value = spin_for(ready, spin);
  while (!ready(value)) {
    const std::uint32_t word = word_.fetch_or(sleeper_flag, std::memory_order_acq_rel);
    value = Value(word);
    if (ready(value)) {
      word_.fetch_and(~sleeper_flag, std::memory_order_relaxed);
    } else {
      sleep(word | sleeper_flag);
      value = read();
    }
  }
  return value;
}

}  // namespace millrace::runtime
