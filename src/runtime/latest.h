#pragma once
// A buffer that keeps only the newest items.
#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

namespace millrace::runtime {

/// Keeps the newest items, up to its capacity. Memory grows as it is needed. Not thread-safe.
template <class T>
class Latest {
 public:
  /// 0: keeps nothing.
  explicit Latest(std::size_t capacity = 0) : capacity_(capacity) {}

  bool is_on() const { return capacity_ > 0; }
  /// Precondition: is_on().
  void add(const T& item) {
    if (items_.size() < capacity_) {
      items_.push_back(item);
      return;
    }
    items_[oldest_] = item;
    oldest_ = oldest_ + 1 == capacity_ ? 0 : oldest_ + 1;
  }
  void clear() {
    items_.clear();
    oldest_ = 0;
  }
  /// The oldest first.
  std::vector<T> in_order() const {
    std::vector<T> result = items_;
    std::rotate(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(oldest_),
                result.end());
    return result;
  }

 private:
  std::size_t capacity_, oldest_ = 0;
  std::vector<T> items_;
};

/// The same, for others to look at. The thread that adds may have a real-time priority, and does
/// not wait: what it adds while somebody looks is there from the next one on.
template <class T>
class WatchedLatest {
 public:
  explicit WatchedLatest(std::size_t capacity = 0) : items_(capacity) {}

  /// Before the first is added.
  void set_capacity(std::size_t capacity) { items_ = Latest<T>(capacity); }
  bool is_on() const { return items_.is_on(); }
  /// One thread. Precondition: is_on().
  void add(const T& item) {
    late_.push_back(item);
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    for (const T& each : late_) items_.add(each);
    late_.clear();
  }
  /// Any thread; the oldest first.
  std::vector<T> in_order() const {
    const std::lock_guard lock(mutex_);
    return items_.in_order();
  }

 private:
  std::vector<T> late_;  // of the thread that adds
  mutable std::mutex mutex_;
  Latest<T> items_;
};

}  // namespace millrace::runtime
