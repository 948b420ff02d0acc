#pragma once
// Frames at a fixed rate, for files that are played as live.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/units.h"

namespace millrace::runtime {

/// One thread waits, any may end it.
class Pace {
 public:
  /// `period` between two frames; 0: no wait.
  explicit Pace(Time period) : period_(period) {}

  /// Until the next frame is due, the first at once; false: ended.
  bool wait() {
    std::unique_lock lock(mutex_);
    if (frames_ == 0) start_ = std::chrono::steady_clock::now();
    const auto due = start_ + period_ * frames_++;
    changed_.wait_until(lock, due, [&] { return ended_; });
    return !ended_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

 private:
  const Time period_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::chrono::steady_clock::time_point start_{};
  std::int64_t frames_ = 0;
  bool ended_ = false;
};

}  // namespace millrace::runtime
