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
#include "runtime/waiting/counter.h"

namespace millrace::runtime {

/// Who has which frame, and which are done. No two frames on their way may be `capacity` apart: the
/// caller sees to that.
class Shared {
 public:
  Shared(std::int64_t capacity, std::int64_t replicas, const Waiting& caller)
      : replicas_(replicas), spin_(caller.spin) {
    for (std::int64_t i = 0; i < capacity; ++i) done_.emplace_back(*caller.event_count);
  }

  // A replica's side.
  struct Claim {
    std::int64_t first, count;
  };
  /// The first of so many frames that nobody has taken, at most `most`; nothing: they all are. Of
  /// the last frames of all, each replica gets its share.
  std::optional<Claim> claim(Counter::Value submitted, std::int64_t most) {
    std::int64_t frame = claimed_.load(std::memory_order_relaxed);
    while (submitted.exceeds(frame)) {
      const bool is_end = submitted.finished();
      const std::int64_t wanted = is_end ? most * replicas_ : most;
      std::int64_t there = 1;
      while (there < wanted && submitted.exceeds(frame + there)) ++there;
      const std::int64_t count = is_end ? (there + replicas_ - 1) / replicas_ : there;
      if (claimed_.compare_exchange_weak(frame, frame + count, std::memory_order_relaxed))
        return Claim{frame, count};
    }
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
  /// The caller is woken when result() may have changed.
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

  std::int64_t replicas_;
  Time spin_;
  std::deque<Counter> done_;  // by slot: how often a frame in it was complete
  alignas(cache_line) std::atomic<std::int64_t> claimed_{0};
};

}  // namespace millrace::runtime
