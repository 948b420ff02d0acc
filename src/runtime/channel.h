#pragma once
// Says how many of a tensor's frames are ready for one reader, and how much space there is.
#include <cstdint>

#include "base/units.h"
#include "runtime/counter.h"

namespace millrace::runtime {

/// A bounded first-in first-out channel of tokens, one writer thread, one reader thread, no lock. A
/// token stands for frame f of a tensor, which lies in slot f % capacity of its Slots: the writer
/// fills the slot between wait_for_space() and push(), the reader uses it between
/// wait_for_token() and pop(). A wait spins for its side's time, then sleeps; every wait ends on
/// close().
class Channel {
 public:
  /// `capacity` from 1 to largest_capacity.
  Channel(std::int64_t capacity, Time writer_spin, Time reader_spin);
  static constexpr std::int64_t largest_capacity = 1 << 24;

  // The writer's side.
  /// Waits until a token fits; false: closed.
  bool wait_for_space();
  /// Whether wait_for_space() would be true without waiting.
  bool has_space();
  /// Whether the reader has popped every token that was pushed.
  bool is_empty();
  /// Precondition: there is space.
  void push();
  /// No token will come after those pushed.
  void finish() { written_.finish(); }

  // The reader's side.
  /// Waits for a token; false: closed, or finished and empty.
  bool wait_for_token();
  /// Frees the oldest token's slot. Precondition: there is a token.
  void pop();

  // Any thread.
  /// Ends all waits, now and later; tokens in the channel are dropped.
  void close();

 private:
  // Counters wrap, differences do not: 0 <= written - read <= capacity.
  static std::uint32_t difference(std::uint32_t a, std::uint32_t b) { return (a - b) & mask; }
  static constexpr std::uint32_t mask = (1u << 29) - 1;

  Counter written_;  // raised by the writer alone: tokens ever pushed
  Counter read_;     // raised by the reader alone: tokens ever popped

  // Each side's own count, and the other's when last looked at: that one is old, so it can only
  // understate space and tokens, and the shared line is read only when it seems to say "wait".
  struct alignas(cache_line) Side {
    Time spin{};  // constant
    std::uint32_t own = 0;
    std::uint32_t other = 0;
  };
  Side writer_;
  Side reader_;

  alignas(cache_line) const std::uint32_t capacity_;
};

}  // namespace millrace::runtime
