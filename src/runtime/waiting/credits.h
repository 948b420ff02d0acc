#pragma once
// How many items may be between two places.
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace millrace::runtime {

/// Any thread.
class Credits {
 public:
  explicit Credits(std::int64_t most) : left_(most) {}

  /// Waits for one; false: closed.
  bool take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || left_ > 0; });
    if (closed_) return false;
    --left_;
    return true;
  }
  void give() {
    const std::lock_guard lock(mutex_);
    ++left_;
    changed_.notify_all();
  }
  /// Ends all waits.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t left_;
  bool closed_ = false;
};

}  // namespace millrace::runtime
