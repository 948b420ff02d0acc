#pragma once
// Between real-time threads of a running deployment and ordinary ones. The real-time side never
// waits for an ordinary thread, which may have been preempted while it holds a lock.
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace millrace::application {

/// From one real-time thread at a time to ordinary threads, in order. What ordinary threads are too
/// slow for is dropped, the oldest first, and counted.
template <class Item>
class Outbox {
 public:
  explicit Outbox(std::size_t most) : most_(most) {}

  /// The real-time side.
  void push(Item item) {
    late_.push_back(std::move(item));
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock()) move_late();
  }
  /// After the last push.
  void finish() {
    const std::lock_guard lock(mutex_);
    move_late();
    finished_ = true;
  }

  /// The next one; waits for it. Nothing: it has been finished, and all were taken.
  std::optional<Item> pop() {
    std::unique_lock lock(mutex_);
    moment_.wait(lock, [this] { return finished_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    Item item = std::move(items_.front());
    items_.pop_front();
    return item;
  }
  std::int64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  void move_late() {
    for (Item& item : late_) items_.push_back(std::move(item));
    late_.clear();
    for (; items_.size() > most_; ++dropped_) items_.pop_front();
    moment_.notify_all();
  }

  const std::size_t most_;
  std::deque<Item> late_;  // touched by the real-time side, and by finish()
  mutable std::mutex mutex_;
  std::condition_variable moment_;
  std::deque<Item> items_;
  std::int64_t dropped_ = 0;
  bool finished_ = false;
};

/// From ordinary threads to one real-time thread.
template <class Item>
class Inbox {
 public:
  /// How many wait at most.
  explicit Inbox(std::size_t most) : most_(most) {}

  /// Takes the place of what waits; how many items were there that nobody took.
  std::size_t replace(Item item) {
    const std::lock_guard lock(mutex_);
    const std::size_t before = items_.size();
    items_.clear();
    items_.push_back(std::move(item));
    return before;
  }
  /// Behind those that wait; waits for room. False: it is closed.
  bool put(Item item) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return closed_ || items_.size() < most_; });
    if (closed_) return false;
    items_.push_back(std::move(item));
    return true;
  }
  /// The real-time side: the oldest; nothing if there is none, or if an ordinary thread is at it.
  std::optional<Item> take() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || items_.empty()) return std::nullopt;
    Item item = std::move(items_.front());
    items_.pop_front();
    room_.notify_one();
    return item;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    room_.notify_all();
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<Item> items_;
  bool closed_ = false;
};

}  // namespace millrace::application
