#pragma once
// Between a source that does not wait and who works on what it gives.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

namespace millrace::runtime {

/// What happens when the queue is full: the source waits, or an item is dropped, the one that waits
/// longest or the one that comes.
enum class WhenFull { block, drop_oldest, drop_newest };

struct QueueCounts {
  std::int64_t put = 0;  // by the source, with those dropped
  std::int64_t dropped = 0;
  std::int64_t most = 0;  // that waited at once
};

/// Any number of threads on both sides. Every wait ends on close().
template <class Item>
class LiveQueue {
 public:
  LiveQueue(std::size_t capacity, WhenFull when_full) : capacity_(capacity), rule_(when_full) {}

  /// False: closed.
  bool put(Item item) {
    std::unique_lock lock(mutex_);
    if (rule_ == WhenFull::block)
      changed_.wait(lock, [&] { return closed_ || items_.size() < capacity_; });
    if (closed_) return false;
    ++counts_.put;
    const bool full = items_.size() >= capacity_;
    counts_.dropped += full ? 1 : 0;
    if (full && rule_ == WhenFull::drop_newest) return true;
    if (full) items_.pop_front();
    items_.push_back(std::move(item));
    const auto waiting = static_cast<std::int64_t>(items_.size());
    counts_.most = waiting > counts_.most ? waiting : counts_.most;
    changed_.notify_all();
    return true;
  }

  /// The next one; nothing after finish() when all have been taken, or after close(). Then rethrows
  /// the source's error.
  std::optional<Item> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || finished_ || !items_.empty(); });
    if (!closed_ && !items_.empty()) {
      std::optional<Item> item(std::move(items_.front()));
      items_.pop_front();
      changed_.notify_all();
      return item;
    }
    if (error_ && !closed_) std::rethrow_exception(std::exchange(error_, nullptr));
    return std::nullopt;
  }

  /// No item will come; those that wait still arrive.
  void finish(std::exception_ptr error = {}) {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    error_ = error;
    changed_.notify_all();
  }
  /// Ends all waits; what waits is dropped and not counted.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  QueueCounts counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  const std::size_t capacity_;
  const WhenFull rule_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  QueueCounts counts_;
  bool finished_ = false, closed_ = false;
  std::exception_ptr error_;
};

}  // namespace millrace::runtime
