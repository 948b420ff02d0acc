#pragma once
// Whether a camera is there, and whether anybody still wants it to be.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/units.h"

namespace millrace::application {

/// Times without pictures, after which they came again.
struct Gaps {
  std::int64_t count = 0;
  Time total{}, longest{};

  Gaps& operator+=(const Gaps& other) {
    count += other.count;
    total += other.total;
    longest = std::max(longest, other.longest);
    return *this;
  }
};

/// Any thread.
class Presence {
 public:
  /// No more pictures are wanted; ends all waits.
  void end() {
    const std::lock_guard lock(mutex_);
    *is_over_ = true;
    over_.notify_all();
  }
  bool is_over() const { return *is_over_; }
  /// Shared with a reader, which may wait for a camera that says nothing.
  std::shared_ptr<const std::atomic<bool>> flag() const { return is_over_; }
  /// Waits so long; false: it is over.
  bool pause(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return !over_.wait_for(lock, time, [&] { return is_over_->load(); });
  }
  void note_gap(Time gap) {
    const std::lock_guard lock(mutex_);
    gaps_ += {1, gap, gap};
  }
  Gaps gaps() const {
    const std::lock_guard lock(mutex_);
    return gaps_;
  }

 private:
  const std::shared_ptr<std::atomic<bool>> is_over_ = std::make_shared<std::atomic<bool>>(false);
  mutable std::mutex mutex_;
  std::condition_variable over_;
  Gaps gaps_;
};

}  // namespace millrace::application
