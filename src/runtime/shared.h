#pragma once
// Frames of a plan whose stages are all replicas of one: whoever is free takes the next, instead of
// in turns. Where processors differ in speed, or others slow one of them down for a while, all of
// them stay busy.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "runtime/channel.h"
#include "runtime/counter.h"

namespace millrace::runtime {

/// Who has which frame, and which are done. No two frames on their way may be `capacity` apart: the
/// caller sees to that.
class Shared {
 public:
  Shared(std::int64_t capacity, const Waiting& caller) : spin_(caller.spin) {
    for (std::int64_t i = 0; i < capacity; ++i) done_.emplace_back(*caller.bell);
  }

  // A replica's side.
  /// The first of so many frames that nobody has taken; nothing: they all are.
  std::optional<std::int64_t> claim(Counter::Value submitted) {
    std::int64_t frame = claimed_.load(std::memory_order_relaxed);
    while (submitted.exceeds(frame))
      if (claimed_.compare_exchange_weak(frame, frame + 1, std::memory_order_relaxed)) return frame;
    return std::nullopt;
  }
  /// Its results are in their slots.
  void complete(std::int64_t frame) { done(frame).raise(); }

  // The caller's side.
  /// Whether the frame is complete; never: closed.
  Readiness result(std::int64_t frame) { return result_if(done(frame).read(), frame); }
  /// Waits until the frame is complete; false: never.
  bool wait_for_result(std::int64_t frame) {
    const auto settled = [&](Counter::Value done) {
      return result_if(done, frame) != Readiness::not_yet;
    };
    return result_if(done(frame).wait(settled, spin_), frame) == Readiness::yes;
  }
  /// The caller's bell will ring when result() may have changed.
  void watch_result(std::int64_t frame) { done(frame).watch(); }

  // Any thread.
  /// Ends all waits of the caller.
  void close() {
    for (Counter& each : done_) each.close();
  }

 private:
  Counter& done(std::int64_t frame) {
    return done_[static_cast<std::size_t>(frame) % done_.size()];
  }
  Readiness result_if(Counter::Value done, std::int64_t frame) const {
    if (done.closed()) return Readiness::never;
    const auto before = frame / static_cast<std::int64_t>(done_.size());
    return done.exceeds(before) ? Readiness::yes : Readiness::not_yet;
  }

  Time spin_;
  std::deque<Counter> done_;  // by slot: how often a frame in it was complete
  alignas(cache_line) std::atomic<std::int64_t> claimed_{0};
};

}  // namespace millrace::runtime
