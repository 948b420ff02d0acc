#pragma once
// Says how many of a tensor's frames are ready for one reader, and how much space there is.
#include <cstdint>
#include <memory>

#include "base/units.h"
#include "runtime/waiting/counter.h"
#include "schedule/firing.h"

namespace millrace::runtime {

/// How one side of a channel waits: it spins first, then sleeps on its event count.
struct Waiting {
  Waiting(Time spin_first, EventCount* sleeps_on = nullptr)
      : spin(spin_first), event_count(sleeps_on) {}
  Time spin;
  EventCount*
      event_count;  // borrowed; of a thread that waits for several channels; null: one of its own
};

using schedule::Readiness;

/// A bounded first-in first-out channel of tokens, one writer thread, one reader thread, no lock. A
/// token stands for frame f of a tensor, which lies in slot f % capacity of its Slots: the writer
/// fills the slot while there is space and before push(), the reader uses it while there is a token
/// and before pop(). Every wait ends on close().
class Channel {
 public:
  /// `capacity` from 1 to largest_capacity.
  Channel(std::int64_t capacity, Waiting writer, Waiting reader);
  static constexpr std::int64_t largest_capacity = 1 << 24;

  // The writer's side.
  /// Whether so many tokens fit; never: closed.
  Readiness space(std::int64_t tokens = 1);
  /// Waits until so many tokens fit; false: never.
  bool wait_for_space(std::int64_t tokens = 1);
  /// The writer is woken when there may be more space, or none any more.
  void watch_space() { read_.watch(); }
  /// How many tokens fit now.
  std::int64_t spaces();
  /// Precondition: there is space.
  void push(std::int64_t tokens = 1);
  /// No token will come after those pushed.
  void finish() { written_.finish(); }

  // The reader's side.
  /// Whether there are so many tokens; never: closed, or finished with fewer.
  Readiness token(std::int64_t tokens = 1);
  /// Waits for so many tokens; false: never.
  bool wait_for_token(std::int64_t tokens = 1);
  /// The reader is woken when there may be another token, or none any more.
  void watch_token() { written_.watch(); }
  /// How many tokens there are now.
  std::int64_t tokens();
  /// Frees the slots of the oldest tokens. Precondition: they are there.
  void pop(std::int64_t tokens = 1);

  // Any thread.
  /// Ends all waits, now and later; tokens in the channel are dropped.
  void close();

 private:
  // Counters wrap, differences do not: 0 <= written - read <= capacity.
  static std::uint32_t difference(std::uint32_t a, std::uint32_t b) { return (a - b) & mask; }
  static constexpr std::uint32_t mask = (1u << 29) - 1;

  Readiness space_if(Counter::Value read, std::uint32_t tokens) const;
  Readiness token_if(Counter::Value written, std::uint32_t tokens) const;

  std::unique_ptr<EventCount> own_event_counts_[2];  // of the sides that brought none
  Counter written_;                     // raised by the writer alone: tokens ever pushed
  Counter read_;                        // raised by the reader alone: tokens ever popped

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
