#pragma once
// A buffer that keeps only the newest items.
#include <algorithm>
#include <cstddef>
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

}  // namespace millrace::runtime
